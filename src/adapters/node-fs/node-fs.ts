import { constants, ReadStream, WriteStream } from 'node:fs'
import { promisify } from 'node:util'
import {
  assertFileSystem,
  type CallContext,
  type FileSystem,
  isSynchronous,
  normalize,
} from '../../vfs/index.ts'
import { AsyncGround } from './async-ground.ts'
import { exists, onDescriptors, onPaths } from './calls.ts'
import { Descriptors } from './descriptors.ts'
import { Dir } from './dir.ts'
import { Dirent } from './dirent.ts'
import { type Calls, callbackCall, callbackCalls, promiseCalls, split, syncCalls } from './faces.ts'
import { FileHandle, type HandleWork, type Streams } from './file-handle.ts'
import * as operations from './operations/index.ts'
import { assertShape, type NodeFs } from './shape.ts'
import type { Site } from './site.ts'
import { Stats } from './stats.ts'
import { begin } from './steps.ts'
import { streamClass, streamsOver } from './streams.ts'
import { SyncGround } from './sync-ground.ts'
import { watchCall, watchPromise } from './watch-calls.ts'

export interface NodeFsOptions {
  /** Where relative paths start. `/` when absent. */
  readonly cwd?: string
  /** Goes with every call: who asks, and so on. */
  readonly context?: CallContext
  /** Permission bits a new file or directory does not get. 0o022 when absent. */
  readonly umask?: number
  /** The owner that every file is said to have. 0 when absent. */
  readonly uid?: number
  readonly gid?: number
}

/**
 * A file system as an object with the calls of `node:fs`, for packages that take one. Failures are Node's errors;
 * what the file system said is their `cause`. Synchronous calls are ENOTSUP where it has no capability `sync`.
 */
export function nodeFs(fs: FileSystem, options: NodeFsOptions = {}): NodeFs {
  assertFileSystem(fs, '/', 'node-fs')
  const { cwd = '/', context, umask = 0o022, uid = 0, gid = 0 } = options
  const shared = { cwd: normalize(cwd), owner: { uid, gid, umask }, descriptors: new Descriptors() }
  const site: Site = { ...shared, ground: new AsyncGround(fs, context) }
  const syncSite = isSynchronous(fs) ? { ...shared, ground: new SyncGround(fs, context) } : undefined

  const streams = streamsOver({
    open: callbackCall(site, operations.open, 'open'),
    close: callbackCall(site, operations.close, 'close'),
    read: callbackCall(site, operations.read, 'read'),
    write: callbackCall(site, operations.write, 'write'),
    writev: callbackCall(site, operations.writev, 'writev'),
    fsync: callbackCall(site, operations.fsync, 'fsync'),
  })
  const face = {
    ...withNativeRealpath(callbackCalls(site, { ...onPaths, ...onDescriptors }), 'realpath'),
    ...withNativeRealpath(syncCalls(syncSite, { ...onPaths, ...onDescriptors, exists }), 'realpathSync'),
    exists: existsCall(site),
    ...streams,
    ...classesOf(streams),
    watch: watchCall(fs, site, context),
    constants,
    promises: {
      ...promiseCalls(site, onPaths),
      open: openCall(site, streams),
      watch: watchPromise(fs, site, context),
      constants,
    },
  }
  assertShape(face)
  return face
}

/** A promise gives a handle where a callback gives a number. */
function openCall(site: Site, streams: Streams): (...args: unknown[]) => Promise<FileHandle> {
  const work: HandleWork = { run: async (operation, ...args) => begin(operation(site, ...args)), streams }
  return async (path, flags, mode) =>
    new FileHandle(work, await begin(operations.open(site, path, flags, mode)))
}

/** Its callback gets the answer alone, not an error first. */
function existsCall(site: Site): (...args: unknown[]) => void {
  const ask = async (path: unknown) => begin(exists(site, path))
  const call = (...given: unknown[]) => {
    const { args, callback } = split(given)
    ask(args[0]).then((isThere) => process.nextTick(callback, isThere))
  }
  return Object.assign(call, { [promisify.custom]: ask })
}

function classesOf(streams: Streams): Readonly<Record<string, unknown>> {
  const readStream = streamClass(streams.createReadStream, ReadStream)
  const writeStream = streamClass(streams.createWriteStream, WriteStream)
  return {
    Dir,
    Dirent,
    Stats,
    ReadStream: readStream,
    WriteStream: writeStream,
    FileReadStream: readStream,
    FileWriteStream: writeStream,
  }
}

/** Node has two ways to find a real path; here they are one. */
function withNativeRealpath(calls: Calls, name: string): Calls {
  const { [name]: realpath } = calls
  if (realpath !== undefined) calls[name] = Object.assign(realpath, { native: realpath })
  return calls
}
