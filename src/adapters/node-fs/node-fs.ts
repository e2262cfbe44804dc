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

/** A promise gives a handle where a callback gives a number. */
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

/** Its callback gets the answer alone, not an error first. */
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

/** Node has two ways to find a real path; here they are one. */
function addNativeRealpath(calls: FsFunctions, name: string): FsFunctions {
  const { [name]: realpath } = calls
  if (realpath !== undefined) calls[name] = Object.assign(realpath, { native: realpath })
  return calls
}
