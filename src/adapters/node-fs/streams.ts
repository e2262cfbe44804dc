import { createReadStream, createWriteStream, type ReadStream, type WriteStream } from 'node:fs'
import { NodeFileHandle, type StreamFactory } from './node-file-handle.ts'
import { getOption, parsePath } from './parse-arguments.ts'

type StreamCall = (...args: unknown[]) => void

/** Calls that Node's streams make. */
export interface StreamCalls {
  readonly open: StreamCall
  readonly close: StreamCall
  readonly read: StreamCall
  readonly write: StreamCall
  readonly writev: StreamCall
  readonly fsync: StreamCall
}

export function createStreamFactory(calls: StreamCalls): StreamFactory {
  return {
    createReadStream: (path, options) =>
      createReadStream(toStreamPath(path, options), {
        ...toOptions(options),
        ...createSource(calls, options),
      }),
    createWriteStream: (path, options) =>
      createWriteStream(toStreamPath(path, options), {
        ...toOptions(options),
        ...createSource(calls, options),
      }),
  }
}

/** Creates a stream class that supports `new` and `instanceof`, and never opens a host file. */
export function createStreamClass<T extends object>(
  create: (path: unknown, options?: unknown) => T,
  original: typeof ReadStream | typeof WriteStream,
): unknown {
  function Stream(path: unknown, options?: unknown): T {
    return create(path, options)
  }
  Stream.prototype = original.prototype
  return Stream
}

function toOptions(options: unknown): object {
  if (typeof options === 'string') return { encoding: options }
  return typeof options === 'object' && options !== null ? options : {}
}

/** Returns the path that a stream opens; empty for an open descriptor, which needs none. */
function toStreamPath(path: unknown, options: unknown): string {
  const isOpen = getOption(options, 'fd') !== undefined && getOption(options, 'fd') !== null
  return isOpen ? '' : parsePath(path)
}

/** Returns the calls and the descriptor of a stream. A handle is closed through itself, to keep its state correct. */
function createSource(calls: StreamCalls, options: unknown): { fs: StreamCalls; fd?: number } {
  const handle = getOption(options, 'fd')
  if (!(handle instanceof NodeFileHandle)) return { fs: calls }
  const close: StreamCall = (_fd, callback) => {
    handle.close().then(
      () => typeof callback === 'function' && callback(null),
      (error: unknown) => typeof callback === 'function' && callback(error),
    )
  }
  return { fs: { ...calls, close }, fd: handle.fd }
}
