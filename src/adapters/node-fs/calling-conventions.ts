import { promisify } from 'node:util'
import { type MaybeAsync, runSync, startCoroutine } from './coroutine.ts'
import type { FsContext } from './fs-context.ts'
import type { FsOperation } from './fs-operation.ts'
import { ArgumentError, createNotSyncError } from './node-error.ts'
import { createArgumentTypeError, getOption } from './parse-arguments.ts'

export type FsFunction = (...args: unknown[]) => unknown
export type FsFunctions = Record<string, FsFunction>
type Operations = Readonly<Record<string, FsOperation>>

/** Calls whose callback receives the parts of the result as separate arguments. */
const RESULT_PARTS: Readonly<Record<string, readonly [string, string]>> = {
  read: ['bytesRead', 'buffer'],
  write: ['bytesWritten', 'buffer'],
  readv: ['bytesRead', 'buffers'],
  writev: ['bytesWritten', 'buffers'],
}

/** Wraps each operation as a call that returns a promise. */
export function createPromiseFunctions(site: FsContext, operations: Operations): FsFunctions {
  return mapOperations(
    operations,
    (operation) =>
      async (...args) =>
        startCoroutine(operation(site, ...args)),
  )
}

/** Wraps each operation as a call with a callback. */
export function createCallbackFunctions(site: FsContext, operations: Operations): FsFunctions {
  return mapOperations(operations, (operation, name) => createCallbackFunction(site, operation, name))
}

/** Wraps an operation as a call with a callback. Invalid arguments throw at once, as in Node. */
export function createCallbackFunction(site: FsContext, operation: FsOperation, name: string): FsFunction {
  const call = (...given: unknown[]) => {
    const { args, callback } = splitCallback(given)
    const result = startOrReject(() => startCoroutine(operation(site, ...args)))
    result.then(
      (result) => process.nextTick(callback, null, ...splitResult(name, result)),
      (error: unknown) => process.nextTick(callback, error),
    )
  }
  if (!Object.hasOwn(RESULT_PARTS, name)) return call
  return Object.assign(call, {
    [promisify.custom]: async (...args: unknown[]) => startCoroutine(operation(site, ...args)),
  })
}

/** Wraps each operation as a synchronous call; ENOTSUP if the file system has no synchronous face. */
export function createSyncFunctions(site: FsContext | undefined, operations: Operations): FsFunctions {
  return Object.fromEntries(
    Object.entries(operations).map(([name, operation]) => {
      const call = (...args: unknown[]) => {
        if (site === undefined) throw createNotSyncError(`${name}Sync`)
        const result = runSync(operation(site, ...args))
        return Object.hasOwn(RESULT_PARTS, name) ? splitResult(name, result)[0] : result
      }
      return [`${name}Sync`, call]
    }),
  )
}

/** Separates the callback from the arguments before it. */
export function splitCallback(given: readonly unknown[]): {
  args: unknown[]
  callback: (...results: unknown[]) => void
} {
  const at = given.findLastIndex((argument) => typeof argument === 'function')
  const found = given[at]
  if (typeof found !== 'function') throw createArgumentTypeError('cb', 'of type function', given.at(-1))
  return { args: given.slice(0, at), callback: (...results) => found(...results) }
}

/** Starts at once. Only invalid arguments throw; every other failure rejects. */
function startOrReject<T>(start: () => MaybeAsync<T>): Promise<T> {
  try {
    return Promise.resolve(start())
  } catch (error) {
    if (error instanceof ArgumentError || error instanceof RangeError) throw error
    return Promise.reject(error)
  }
}

function splitResult(name: string, result: unknown): unknown[] {
  const parts = Object.hasOwn(RESULT_PARTS, name) ? RESULT_PARTS[name] : undefined
  if (parts !== undefined) return parts.map((part) => getOption(result, part))
  return result === undefined ? [] : [result]
}

function mapOperations(
  operations: Operations,
  make: (operation: FsOperation, name: string) => FsFunction,
): FsFunctions {
  return Object.fromEntries(
    Object.entries(operations).map(([name, operation]) => [name, make(operation, name)]),
  )
}
