import { createReadStream, createWriteStream, type ReadStream, type WriteStream } from 'node:fs'
import { pathText, setting } from './arguments.ts'
import { FileHandle, type Streams } from './file-handle.ts'

type Call = (...args: unknown[]) => void

/** What Node's streams ask of a file system. */
export interface StreamCalls {
  readonly open: Call
  readonly close: Call
  readonly read: Call
  readonly write: Call
  readonly writev: Call
  readonly fsync: Call
}

export function streamsOver(calls: StreamCalls): Streams {
  return {
    createReadStream: (path, options) =>
      createReadStream(placeOf(path, options), { ...settings(options), ...source(calls, options) }),
    createWriteStream: (path, options) =>
      createWriteStream(placeOf(path, options), { ...settings(options), ...source(calls, options) }),
  }
}

/** A stream class that can be called with `new`, and knows its instances, but never opens a file of this machine. */
export function streamClass<T extends object>(
  create: (path: unknown, options?: unknown) => T,
  original: typeof ReadStream | typeof WriteStream,
): unknown {
  function Stream(path: unknown, options?: unknown): T {
    return create(path, options)
  }
  Stream.prototype = original.prototype
  return Stream
}

function settings(options: unknown): object {
  if (typeof options === 'string') return { encoding: options }
  return typeof options === 'object' && options !== null ? options : {}
}

/** What is open already needs no path. */
function placeOf(path: unknown, options: unknown): string {
  const isOpen = setting(options, 'fd') !== undefined && setting(options, 'fd') !== null
  return isOpen ? '' : pathText(path)
}

/** A handle is closed as one, so that it knows. */
function source(calls: StreamCalls, options: unknown): { fs: StreamCalls; fd?: number } {
  const handle = setting(options, 'fd')
  if (!(handle instanceof FileHandle)) return { fs: calls }
  const close: Call = (_fd, callback) => {
    handle.close().then(
      () => typeof callback === 'function' && callback(null),
      (error: unknown) => typeof callback === 'function' && callback(error),
    )
  }
  return { fs: { ...calls, close }, fd: handle.fd }
}
