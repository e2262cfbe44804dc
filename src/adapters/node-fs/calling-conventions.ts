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
export function createPromiseFunctions(context: FsContext, operations: Operations): FsFunctions {
  return mapOperations(
    operations,
    (operation) =>
      async (...args) =>
        startCoroutine(operation(context, ...args)),
  )
}

/** Wraps each operation as a call with a callback. */
export function createCallbackFunctions(context: FsContext, operations: Operations): FsFunctions {
  return mapOperations(operations, (operation, name) => createCallbackFunction(context, operation, name))
}

/** Wraps an operation as a call with a callback. Invalid arguments throw at once, as in Node. */
export function createCallbackFunction(context: FsContext, operation: FsOperation, name: string): FsFunction {
  const call = (...allArgs: unknown[]) => {
    const { args, callback } = splitCallback(allArgs)
    const result = startOrReject(() => startCoroutine(operation(context, ...args)))
    result.then(
      (result) => process.nextTick(callback, null, ...splitResult(name, result)),
      (error: unknown) => process.nextTick(callback, error),
    )
  }
  if (!Object.hasOwn(RESULT_PARTS, name)) return call
  return Object.assign(call, {
    [promisify.custom]: async (...args: unknown[]) => startCoroutine(operation(context, ...args)),
  })
}

/** Wraps each operation as a synchronous call; ENOTSUP if the file system has no synchronous interface. */
export function createSyncFunctions(context: FsContext | undefined, operations: Operations): FsFunctions {
  return Object.fromEntries(
    Object.entries(operations).map(([name, operation]) => {
      const call = (...args: unknown[]) => {
        if (context === undefined) throw createNotSyncError(`${name}Sync`)
        const result = runSync(operation(context, ...args))
        return Object.hasOwn(RESULT_PARTS, name) ? splitResult(name, result)[0] : result
      }
      return [`${name}Sync`, call]
    }),
  )
}

/** Separates the callback from the arguments before it. */
export function splitCallback(allArgs: readonly unknown[]): {
  args: unknown[]
  callback: (...results: unknown[]) => void
} {
  const index = allArgs.findLastIndex((argument) => typeof argument === 'function')
  const found = allArgs[index]
  if (typeof found !== 'function') throw createArgumentTypeError('cb', 'of type function', allArgs.at(-1))
  return { args: allArgs.slice(0, index), callback: (...results) => found(...results) }
}

/** Starts an operation at once, as a promise. Only invalid arguments throw; every other failure rejects. */
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
