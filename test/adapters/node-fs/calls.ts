import fc from 'fast-check'
import type { NodeFs } from '../../../src/adapters/node-fs/index.ts'

/** A call of Node's fs with its API style and arguments. A path is written `{ at: '/a' }`. */
export interface FsCall {
  readonly face: 'promises' | 'callback' | 'sync'
  readonly name: string
  readonly args: readonly unknown[]
}

/** Several calls on one open file, which is closed afterwards. */
export interface FsSession {
  readonly face: FsCall['face']
  readonly open: readonly unknown[]
  readonly calls: readonly Omit<FsCall, 'face'>[]
}

export type FsStep = FsCall | FsSession

interface Place {
  readonly at: string
}

const NAMES = ['/a', '/b', '/a/x', '/a/y', '/a/x/z', '/l', '/a/l']
const ODD = [
  '/a/',
  '/l/',
  '/a/../b',
  '/l/../b',
  '/a/./x',
  '//a//x',
  '/b/..',
  '/missing/../a',
  '/l/x',
  '/b/x',
  '/',
]

const place: fc.Arbitrary<Place> = fc
  .oneof(
    { arbitrary: fc.constantFrom(...NAMES), weight: 8 },
    { arbitrary: fc.constantFrom(...ODD), weight: 1 },
  )
  .map((at) => ({ at }))
const face = fc.constantFrom<FsCall['face']>('promises', 'callback', 'sync')
const text = fc.oneof(fc.string({ maxLength: 12 }), fc.constantFrom('', 'hello', 'grüße', 'x'.repeat(100)))
const data = fc.oneof(
  text,
  text.map((content) => Buffer.from(content)),
)
const writing = fc.constantFrom('w', 'wx', 'a', 'ax', 'r+', 'w+', 'a+')
const flag = fc.oneof(writing, fc.constant('r'))
const mode = fc.constantFrom(0o600, 0o644, 0o666, 0o755, 0o700)
const offset = fc.nat({ max: 9 })
const position = fc.oneof(offset, fc.constant(null))
const seconds = fc.integer({ min: 1, max: 2_000_000_000 })
const encoding = fc.constantFrom('utf8', 'hex', 'latin1', null)
const target = fc.constantFrom('a', 'x', '../b', 'missing', '../a/x', '.', 'l')

function options(shape: Readonly<Record<string, fc.Arbitrary<unknown>>>): fc.Arbitrary<object> {
  return fc.record(shape, { requiredKeys: [] })
}

const flags = options({ recursive: fc.boolean(), force: fc.boolean() })

/** Calls on paths, with possible arguments. */
const onPaths: Readonly<Record<string, fc.Arbitrary<readonly unknown[]>>> = {
  writeFile: fc.tuple(place, data, options({ flag: writing, mode })),
  appendFile: fc.tuple(place, data, options({ mode })),
  readFile: fc.tuple(place, options({ encoding, flag: fc.constantFrom('r', 'r+') })),
  mkdir: fc.tuple(place, options({ recursive: fc.boolean(), mode: fc.constantFrom(0o755, 0o700, 0o777) })),
  rmdir: fc.tuple(place),
  rm: fc.tuple(place, flags),
  unlink: fc.tuple(place),
  rename: fc.tuple(place, place),
  copyFile: fc.tuple(place, place, fc.constantFrom(0, 1)),
  link: fc.tuple(place, place),
  symlink: fc.tuple(target, place),
  readlink: fc.tuple(place),
  realpath: fc.tuple(place),
  stat: fc.tuple(place, options({ bigint: fc.boolean() })),
  lstat: fc.tuple(place, options({ bigint: fc.boolean() })),
  readdir: fc.tuple(place, options({ withFileTypes: fc.boolean() })),
  access: fc.tuple(place, fc.constantFrom(0, 1, 2, 4, 6)),
  chmod: fc.tuple(place, mode),
  utimes: fc.tuple(place, seconds, seconds),
  lutimes: fc.tuple(place, seconds, seconds),
  truncate: fc.tuple(place, offset),
  exists: fc.tuple(place),
  opendir: fc.tuple(place),
  cp: fc.tuple(
    place,
    place,
    options({ recursive: fc.boolean(), force: fc.boolean(), errorOnExist: fc.boolean() }),
  ),
}

const buffer = text.map((content) => Buffer.from(content))

/** A part of a buffer and its position in the file: `buffer, offset, length, position`. */
const span = fc.tuple(buffer, fc.nat(), fc.nat(), position).map(([bytes, start, count, at]) => {
  const offset = start % (bytes.length + 1)
  return [bytes, offset, count % (bytes.length - offset + 1), at]
})

/** Calls on an open file; the descriptor precedes these arguments. */
const onDescriptors: Readonly<Record<string, fc.Arbitrary<readonly unknown[]>>> = {
  write: fc.oneof(span, fc.tuple(text, position)),
  read: span,
  writev: fc.tuple(fc.array(buffer, { minLength: 1, maxLength: 3 }), position),
  // For empty buffers, Node claims to have read a directory.
  readv: fc.tuple(
    fc.array(buffer, { minLength: 1, maxLength: 3 }).filter((all) => all.some(({ length }) => length > 0)),
    position,
  ),
  ftruncate: fc.tuple(offset),
  fstat: fc.tuple(),
  fsync: fc.tuple(),
  fchmod: fc.tuple(mode),
  futimes: fc.tuple(seconds, seconds),
  readFile: fc.tuple(options({ encoding })),
  // For empty data on a read-only file, Node's API styles disagree: success, or EBADF.
  appendFile: fc.tuple(data.filter(({ length }) => length > 0)),
}

function callsOf(table: typeof onPaths): fc.Arbitrary<Omit<FsCall, 'face'>> {
  return fc.oneof(
    ...Object.entries(table).map(([name, args]) => args.map((given) => ({ name, args: given }))),
  )
}

const call: fc.Arbitrary<FsCall> = fc
  .tuple(face, callsOf(onPaths))
  .map(([asked, given]) => ({ face: asked, ...given }))

const session: fc.Arbitrary<FsSession> = fc
  .record({
    face,
    open: fc.tuple(place, flag, mode),
    calls: fc.array(callsOf(onDescriptors), { maxLength: 6 }),
  })
  .map((given) => (given.face === 'sync' ? given : withCallbacks(given)))

/** The same with callbacks, without `readFile`: Node's swallows every error of a descriptor. */
export function withCallbacks(asked: FsSession): FsSession {
  return { ...asked, face: 'callback', calls: asked.calls.filter(({ name }) => name !== 'readFile') }
}

/** Any sequence of calls. */
export const steps: fc.Arbitrary<FsStep[]> = fc.array(
  fc.oneof({ arbitrary: call, weight: 5 }, { arbitrary: session, weight: 1 }),
  { minLength: 1, maxLength: 30 },
)

/** Makes one call and returns its result as a promise, in any API style. */
export function make(fs: NodeFs, { face: asked, name, args }: FsCall): Promise<unknown> {
  if (asked === 'sync') return Promise.resolve().then(() => invoke(fs, `${name}Sync`, args))
  if (asked === 'promises' && name in fs.promises) return Promise.resolve(invoke(fs.promises, name, args))
  return new Promise((resolve, reject) => {
    const callback = (error: unknown, ...results: unknown[]) => {
      if (typeof error === 'boolean') resolve(error)
      else if (error) reject(error)
      else resolve(results[0])
    }
    invoke(fs, name, [...args, callback])
  })
}

function invoke(face: object, name: string, args: readonly unknown[]): unknown {
  const found: unknown = Reflect.get(face, name)
  if (typeof found !== 'function') throw new Error(`there is no ${name}`)
  return Reflect.apply(found, face, args)
}
