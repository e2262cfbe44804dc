import { constants, ReadStream, WriteStream } from 'node:fs'
import { promisify } from 'node:util'
import {
  assertFileSystem,
  type CallContext,
  type FileSystem,
  isSynchronous,
  normalize,
} from '../../vfs/index.ts'
import { AsyncDriver } from './async-driver.ts'
import {
  createCallbackFunction,
  createCallbackFunctions,
  createPromiseFunctions,
  createSyncFunctions,
  type FsFunctions,
  splitCallback,
} from './calling-conventions.ts'
import { startCoroutine } from './coroutine.ts'
import { Dir } from './dir.ts'
import { Dirent } from './dirent.ts'
import { FileDescriptors } from './file-descriptors.ts'
import type { FsContext } from './fs-context.ts'
import { type HandleRunner, NodeFileHandle, type StreamFactory } from './node-file-handle.ts'
import { descriptorOperations, exists, pathOperations } from './operation-tables.ts'
import * as operations from './operations/index.ts'
import { assertShape, type NodeFs } from './shape.ts'
import { Stats } from './stats.ts'
import { createStreamClass, createStreamFactory } from './streams.ts'
import { SyncDriver } from './sync-driver.ts'
import { createWatch, createWatchPromise } from './watch-calls.ts'

/** Options of `nodeFs`. */
export interface NodeFsOptions {
  /** Base of relative paths; `/` when absent. */
  readonly cwd?: string
  /** Context of every call, such as the identity of the caller. */
  readonly context?: CallContext
  /** Permission bits removed from new files and directories; 0o022 when absent. */
  readonly umask?: number
  /** Owner reported for every file; 0 when absent. */
  readonly uid?: number
  readonly gid?: number
}

/**
 * Wraps a file system as an object with the calls of `node:fs`, for packages that take one. Failures are Node's errors
 * with the original as `cause`. Synchronous calls are ENOTSUP without the capability `sync`.
 */
export function nodeFs(fs: FileSystem, options: NodeFsOptions = {}): NodeFs {
  assertFileSystem(fs, '/', 'node-fs')
  const { cwd = '/', context, umask = 0o022, uid = 0, gid = 0 } = options
  const shared = { cwd: normalize(cwd), owner: { uid, gid, umask }, descriptors: new FileDescriptors() }
  const fsContext: FsContext = { ...shared, driver: new AsyncDriver(fs, context) }
  const syncContext = isSynchronous(fs) ? { ...shared, driver: new SyncDriver(fs, context) } : undefined

  const streams = createStreamFactory({
    open: createCallbackFunction(fsContext, operations.open, 'open'),
    close: createCallbackFunction(fsContext, operations.close, 'close'),
    read: createCallbackFunction(fsContext, operations.read, 'read'),
    write: createCallbackFunction(fsContext, operations.write, 'write'),
    writev: createCallbackFunction(fsContext, operations.writev, 'writev'),
    fsync: createCallbackFunction(fsContext, operations.fsync, 'fsync'),
  })
  const fsObject = {
    ...addNativeRealpath(
      createCallbackFunctions(fsContext, { ...pathOperations, ...descriptorOperations }),
      'realpath',
    ),
    ...addNativeRealpath(
      createSyncFunctions(syncContext, { ...pathOperations, ...descriptorOperations, exists }),
      'realpathSync',
    ),
    exists: createExists(fsContext),
    ...streams,
    ...createClasses(streams),
    watch: createWatch(fs, fsContext, context),
    constants,
    promises: {
      ...createPromiseFunctions(fsContext, pathOperations),
      open: createOpen(fsContext, streams),
      watch: createWatchPromise(fs, fsContext, context),
      constants,
    },
  }
  assertShape(fsObject)
  return fsObject
}

/** Creates `promises.open`, which returns a handle; the callback form of `open` returns a number. */
function createOpen(
  fsContext: FsContext,
  streams: StreamFactory,
): (...args: unknown[]) => Promise<NodeFileHandle> {
  const runner: HandleRunner = {
    run: async (operation, ...args) => startCoroutine(operation(fsContext, ...args)),
    streams,
  }
  return async (path, flags, mode) =>
    new NodeFileHandle(runner, await startCoroutine(operations.open(fsContext, path, flags, mode)))
}

/** Creates `exists`, whose callback receives the result without an error before it. */
function createExists(fsContext: FsContext): (...args: unknown[]) => void {
  const checkExists = async (path: unknown) => startCoroutine(exists(fsContext, path))
  const call = (...given: unknown[]) => {
    const { args, callback } = splitCallback(given)
    checkExists(args[0]).then((isPresent) => process.nextTick(callback, isPresent))
  }
  return Object.assign(call, { [promisify.custom]: checkExists })
}

function createClasses(streams: StreamFactory): Readonly<Record<string, unknown>> {
  const readStream = createStreamClass(streams.createReadStream, ReadStream)
  const writeStream = createStreamClass(streams.createWriteStream, WriteStream)
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

/** Adds `realpath.native`, which is the same here. */
function addNativeRealpath(calls: FsFunctions, name: string): FsFunctions {
  const { [name]: realpath } = calls
  if (realpath !== undefined) calls[name] = Object.assign(realpath, { native: realpath })
  return calls
}
