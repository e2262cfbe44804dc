import type * as nodeFs from 'node:fs'

/** Calls that exist with a callback, with a promise, and synchronous. */
const ALL_FORMS = [
  'access',
  'appendFile',
  'chmod',
  'chown',
  'copyFile',
  'cp',
  'lchown',
  'link',
  'lstat',
  'lutimes',
  'mkdir',
  'mkdtemp',
  'open',
  'opendir',
  'readFile',
  'readdir',
  'readlink',
  'realpath',
  'rename',
  'rm',
  'rmdir',
  'stat',
  'symlink',
  'truncate',
  'unlink',
  'utimes',
  'writeFile',
] as const

/** Calls on descriptors, for which promises have handles, and one without a promise form. */
const WITHOUT_PROMISE = [
  'close',
  'exists',
  'fchmod',
  'fchown',
  'fdatasync',
  'fstat',
  'fsync',
  'ftruncate',
  'futimes',
  'read',
  'readv',
  'write',
  'writev',
] as const

const CALLBACK_ONLY = ['createReadStream', 'createWriteStream', 'watch'] as const
const CLASSES = ['Dir', 'Dirent', 'ReadStream', 'Stats', 'WriteStream'] as const

type AllForms = (typeof ALL_FORMS)[number]
type CallbackAndSync = AllForms | (typeof WITHOUT_PROMISE)[number]

/** Supported part of `fs.promises`. */
export type NodeFsPromises = Pick<typeof nodeFs.promises, AllForms | 'watch' | 'constants'>

/** Supported part of `node:fs`, with Node's own types, so that it passes for `fs`. */
export type NodeFs = Pick<
  typeof nodeFs,
  | CallbackAndSync
  | `${CallbackAndSync}Sync`
  | (typeof CALLBACK_ONLY)[number]
  | (typeof CLASSES)[number]
  | 'constants'
> & {
  readonly promises: NodeFsPromises
}

/**
 * Asserts that an object has all calls of Node's `fs`. Their types are Node's overloads, which no
 * implementation can be checked against; differential tests compare the behaviour.
 */
export function assertShape(fsObject: { readonly promises: object }): asserts fsObject is NodeFs {
  const both = [...ALL_FORMS, ...WITHOUT_PROMISE]
  assertCalls(fsObject, [...both, ...both.map((name) => `${name}Sync`), ...CALLBACK_ONLY, ...CLASSES])
  assertCalls(fsObject.promises, [...ALL_FORMS, 'watch'])
}

function assertCalls(fsObject: object, names: readonly string[]): void {
  const missing = names.filter((name) => typeof Reflect.get(fsObject, name) !== 'function')
  if (missing.length > 0) throw new Error(`calls of node:fs are missing: ${missing.join(', ')}`)
}
