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
  const site: FsContext = { ...shared, driver: new AsyncDriver(fs, context) }
  const syncSite = isSynchronous(fs) ? { ...shared, driver: new SyncDriver(fs, context) } : undefined

  const streams = createStreamFactory({
    open: createCallbackFunction(site, operations.open, 'open'),
    close: createCallbackFunction(site, operations.close, 'close'),
    read: createCallbackFunction(site, operations.read, 'read'),
    write: createCallbackFunction(site, operations.write, 'write'),
    writev: createCallbackFunction(site, operations.writev, 'writev'),
    fsync: createCallbackFunction(site, operations.fsync, 'fsync'),
  })
  const face = {
    ...addNativeRealpath(
      createCallbackFunctions(site, { ...pathOperations, ...descriptorOperations }),
      'realpath',
    ),
    ...addNativeRealpath(
      createSyncFunctions(syncSite, { ...pathOperations, ...descriptorOperations, exists }),
      'realpathSync',
    ),
    exists: createExists(site),
    ...streams,
    ...createClasses(streams),
    watch: createWatch(fs, site, context),
    constants,
    promises: {
      ...createPromiseFunctions(site, pathOperations),
      open: createOpen(site, streams),
      watch: createWatchPromise(fs, site, context),
      constants,
    },
  }
  assertShape(face)
  return face
}

/** Creates `open`: the promise resolves to a handle, the callback receives a number. */
function createOpen(
  site: FsContext,
  streams: StreamFactory,
): (...args: unknown[]) => Promise<NodeFileHandle> {
  const work: HandleRunner = {
    run: async (operation, ...args) => startCoroutine(operation(site, ...args)),
    streams,
  }
  return async (path, flags, mode) =>
    new NodeFileHandle(work, await startCoroutine(operations.open(site, path, flags, mode)))
}

/** Creates `exists`, whose callback receives the result without an error before it. */
function createExists(site: FsContext): (...args: unknown[]) => void {
  const ask = async (path: unknown) => startCoroutine(exists(site, path))
  const call = (...given: unknown[]) => {
    const { args, callback } = splitCallback(given)
    ask(args[0]).then((isThere) => process.nextTick(callback, isThere))
  }
  return Object.assign(call, { [promisify.custom]: ask })
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
