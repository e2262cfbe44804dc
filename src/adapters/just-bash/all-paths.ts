import {
  type CallContext,
  child,
  type DirEntry,
  type FileSystem,
  isVfsError,
  trySync,
} from '../../vfs/index.ts'
import type { SystemFiles } from './system-files.ts'

/** Limit of listed paths: just-bash needs all in one array. A larger tree is cut breadth first. */
const MAX_PATHS = 10_000

/**
 * Lists the paths of a file system and of the shell, breadth first, without following links. Directories that
 * cannot be read, or not synchronously, count as empty.
 */
export function listAllPaths(fs: FileSystem, system: SystemFiles, ctx: CallContext | undefined): string[] {
  const paths = new Set(['/'])
  const directories = ['/']
  for (const directory of directories) {
    for (const { name, type } of listEntriesNow(fs, system, directory, ctx)) {
      if (paths.size === MAX_PATHS) return [...paths]
      const path = child(directory, name)
      if (paths.has(path)) continue
      paths.add(path)
      if (type === 'directory') directories.push(path)
    }
  }
  return [...paths]
}

function listEntriesNow(
  fs: FileSystem,
  system: SystemFiles,
  directory: string,
  ctx: CallContext | undefined,
): DirEntry[] {
  const own = system.listNames(directory).map((name): DirEntry => {
    return { name, type: system.isDirectory(child(directory, name)) ? 'directory' : 'file' }
  })
  try {
    return [...own, ...(trySync(fs, (sync) => sync.readdir(directory, ctx)) ?? [])]
  } catch (error) {
    if (isVfsError(error)) return own
    throw error
  }
}
