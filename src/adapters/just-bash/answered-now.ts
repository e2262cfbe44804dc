import { type FileSystem, isSynchronous, isVfsError, type SyncFileSystem } from '../../vfs/index.ts'

/** The answer of a synchronous face, if there is one that knows: of a vault's past, say, it knows nothing. */
export function answeredNow<T>(fs: FileSystem, ask: (sync: SyncFileSystem) => T): T | undefined {
  if (!isSynchronous(fs)) return undefined
  try {
    return ask(fs.sync)
  } catch (error) {
    if (isVfsError(error, 'ENOTSUP')) return undefined
    throw error
  }
}
