import { promisify } from 'node:util'
import { setting, wrongType } from './arguments.ts'
import { ArgumentError, cannotAnswerAtOnce } from './node-error.ts'
import type { Operation } from './operation.ts'
import type { Site } from './site.ts'
import { type Answer, begin, runNow } from './steps.ts'

export type Call = (...args: unknown[]) => unknown
export type Calls = Record<string, Call>
type Operations = Readonly<Record<string, Operation>>

/** Calls of which a callback gets the parts of the result one by one. */
const PARTS: Readonly<Record<string, readonly [string, string]>> = {
  read: ['bytesRead', 'buffer'],
  write: ['bytesWritten', 'buffer'],
  readv: ['bytesRead', 'buffers'],
  writev: ['bytesWritten', 'buffers'],
}

/** Each operation as a call that gives a promise. */
export function promiseCalls(site: Site, operations: Operations): Calls {
  return mapped(
    operations,
    (operation) =>
      async (...args) =>
        begin(operation(site, ...args)),
  )
}

/** Each operation as a call with a callback. */
export function callbackCalls(site: Site, operations: Operations): Calls {
  return mapped(operations, (operation, name) => callbackCall(site, operation, name))
}

/** One operation as a call with a callback. Wrong arguments are thrown at once, as Node does. */
export function callbackCall(site: Site, operation: Operation, name: string): Call {
  const call = (...given: unknown[]) => {
    const { args, callback } = split(given)
    const answer = attempt(() => begin(operation(site, ...args)))
    answer.then(
      (result) => process.nextTick(callback, null, ...partsOf(name, result)),
      (error: unknown) => process.nextTick(callback, error),
    )
  }
  if (!Object.hasOwn(PARTS, name)) return call
  return Object.assign(call, {
    [promisify.custom]: async (...args: unknown[]) => begin(operation(site, ...args)),
  })
}

/** Each operation as a call that is done when it returns; ENOTSUP where the file system cannot answer at once. */
export function syncCalls(site: Site | undefined, operations: Operations): Calls {
  return Object.fromEntries(
    Object.entries(operations).map(([name, operation]) => {
      const call = (...args: unknown[]) => {
        if (site === undefined) throw cannotAnswerAtOnce(`${name}Sync`)
        const result = runNow(operation(site, ...args))
        return Object.hasOwn(PARTS, name) ? partsOf(name, result)[0] : result
      }
      return [`${name}Sync`, call]
    }),
  )
}

/** The arguments of a call, and the callback that follows them. */
export function split(given: readonly unknown[]): {
  args: unknown[]
  callback: (...results: unknown[]) => void
} {
  const at = given.findLastIndex((argument) => typeof argument === 'function')
  const found = given[at]
  if (typeof found !== 'function') throw wrongType('cb', 'of type function', given.at(-1))
  return { args: given.slice(0, at), callback: (...results) => found(...results) }
}

/** Begins at once. Only wrong arguments are thrown; every other failure is in the promise. */
function attempt<T>(start: () => Answer<T>): Promise<T> {
  try {
    return Promise.resolve(start())
  } catch (error) {
    if (error instanceof ArgumentError || error instanceof RangeError) throw error
    return Promise.reject(error)
  }
}

function partsOf(name: string, result: unknown): unknown[] {
  const parts = Object.hasOwn(PARTS, name) ? PARTS[name] : undefined
  if (parts !== undefined) return parts.map((part) => setting(result, part))
  return result === undefined ? [] : [result]
}

function mapped(operations: Operations, make: (operation: Operation, name: string) => Call): Calls {
  return Object.fromEntries(
    Object.entries(operations).map(([name, operation]) => [name, make(operation, name)]),
  )
}
