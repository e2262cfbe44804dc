import { dirname, resolve } from 'node:path/posix'
import type { NodeFs } from '../../../src/adapters/node-fs/index.ts'
import { type FsCall, type FsSession, type FsStep, make } from './calls.ts'

/** A node:fs and the directory that serves as its root. */
export interface Subject {
  readonly name: string
  readonly fs: NodeFs
  readonly root: string
}

/** Returns the outcome of a step in a comparable form. */
export async function outcomeOf(subject: Subject, step: FsStep): Promise<unknown> {
  return 'open' in step ? sessionOutcome(subject, step) : callOutcome(subject, step)
}

async function sessionOutcome(subject: Subject, { face, open, calls }: FsSession): Promise<unknown[]> {
  const asked = face === 'promises' ? 'callback' : face
  const run = (name: string, args: readonly unknown[]) =>
    make(subject.fs, { face: asked, name, args: placed(subject, args) })
  let fd: unknown
  try {
    fd = await run('open', open)
  } catch (error) {
    return [failure(error)]
  }
  const outcomes: unknown[] = []
  for (const { name, args } of calls) {
    // Every subject gets its own buffers.
    const own = args.map((argument) => structuredClone(argument)).map(asBuffers)
    const outcome = await callOutcome(subject, { face: asked, name, args: [fd, ...own] })
    outcomes.push(name.startsWith('read') ? [outcome, own[0]] : outcome)
  }
  await run('close', [fd])
  return outcomes
}

/** A structured clone of a Buffer is a plain byte array. */
function asBuffers(argument: unknown): unknown {
  if (argument instanceof Uint8Array)
    return Buffer.from(argument.buffer, argument.byteOffset, argument.byteLength)
  return Array.isArray(argument) ? argument.map(asBuffers) : argument
}

async function callOutcome(subject: Subject, call: FsCall): Promise<unknown> {
  try {
    const result = await make(subject.fs, { ...call, args: placed(subject, call.args) })
    return { result: await shown(subject, call.name, result) }
  } catch (error) {
    // Node resolves real paths in two ways, one of which stats each name.
    return call.name === 'realpath' ? { ...failure(error), syscall: 'realpath' } : failure(error)
  }
}

function placed({ root }: Subject, args: readonly unknown[]): unknown[] {
  return args.map((argument) => (isPlace(argument) ? `${root}${argument.at}` : argument))
}

/** True for a path that still needs its root. */
export function isPlace(argument: unknown): argument is { at: string } {
  return (
    typeof argument === 'object' && argument !== null && 'at' in argument && typeof argument.at === 'string'
  )
}

function failure(error: unknown): object {
  if (!(error instanceof Error)) return { error }
  const code = 'code' in error ? error.code : undefined
  const syscall = 'syscall' in error && !String(code).startsWith('ERR_') ? error.syscall : undefined
  if (code === undefined) return { error: `${error.stack}` }
  return { code, syscall }
}

function plain({ root }: Subject, text: string): string {
  return text.replaceAll(root, '').replaceAll(dirname(root), 'above')
}

async function shown(subject: Subject, name: string, result: unknown): Promise<unknown> {
  if (name === 'readdir' && Array.isArray(result))
    return result.map((entry) => entryOf(subject, entry)).sort()
  if (name === 'opendir' && typeof result === 'object' && result !== null && Symbol.asyncIterator in result) {
    const names: string[] = []
    for await (const entry of listing(result)) names.push(entryOf(subject, entry))
    return names.sort()
  }
  if (typeof result === 'object' && result !== null && 'isFile' in result) return statOf(result)
  if (name === 'mkdir' && typeof result === 'string') return resolve('/', plain(subject, result))
  return typeof result === 'string' ? plain(subject, result) || '/' : result
}

function listing(directory: object): AsyncIterable<unknown> {
  return {
    [Symbol.asyncIterator]: () => Reflect.apply(Reflect.get(directory, Symbol.asyncIterator), directory, []),
  }
}

function entryOf(subject: Subject, entry: unknown): string {
  if (typeof entry !== 'object' || entry === null || !('name' in entry)) return String(entry)
  const parent = 'parentPath' in entry ? plain(subject, String(entry.parentPath)) : ''
  return [entry.name, parent || '/', ...typesOf(entry)].join(' ')
}

function typesOf(entry: object): string[] {
  const questions = ['isFile', 'isDirectory', 'isSymbolicLink', 'isFIFO', 'isSocket', 'isBlockDevice']
  return questions.filter((question) => Reflect.apply(Reflect.get(entry, question), entry, []) === true)
}

/** The size and link count of a directory are unspecified. */
function statOf(stat: object): unknown {
  const { mode, size, nlink } = { mode: 0, size: 0, nlink: 0, ...stat }
  const types = typesOf(stat)
  const isFile = types.includes('isFile')
  return { types, mode, ...(isFile && { size, nlink }), kind: typeof mode }
}
