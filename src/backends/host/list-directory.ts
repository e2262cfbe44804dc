import { isUtf8 } from 'node:buffer'
import { type Dirent, lstatSync, type Stats } from 'node:fs'
import { type DirectoryHandle, isTemporaryName, loadFsPromises } from '../../machine/index.ts'
import type { DirEntry, FileType, Stat } from '../../vfs/index.ts'
import type { ClosedDirectories } from './closed-directories.ts'

/** The replacement for bytes that are not UTF-8. It may also be part of a name. */
const REPLACEMENT = '\ufffd'
const PERMISSIONS = 0o7777

/** The entries of a directory. */
export interface DirectoryListing {
  readonly entries: readonly DirEntry[]
  /** Names that are not UTF-8, which no path can contain. */
  readonly unreadable: readonly Buffer[]
}

export async function listDirectory(directory: DirectoryHandle): Promise<DirectoryListing> {
  const found = await loadFsPromises().readdir(directory.at('.'), { withFileTypes: true })
  directory.assertInsideRoot()
  if (found.some(({ name }) => name.includes(REPLACEMENT))) return listDirectoryBytes(directory)
  return { entries: found.map((entry) => ({ name: entry.name, type: toFileType(entry) })), unreadable: [] }
}

/** Lists names as bytes. Three times slower, so used only if a name needs it. */
async function listDirectoryBytes(directory: DirectoryHandle): Promise<DirectoryListing> {
  const found = await loadFsPromises().readdir(directory.at('.'), { withFileTypes: true, encoding: 'buffer' })
  directory.assertInsideRoot()
  const readable = found.filter(({ name }) => isUtf8(name))
  return {
    entries: readable.map((entry) => ({ name: entry.name.toString(), type: toFileType(entry) })),
    unreadable: found.map(({ name }) => name).filter((name) => !isUtf8(name)),
  }
}

/** Returns the visible entries of a directory, sorted. Omits closed directories and temporary files. */
export async function listVisibleEntries(
  directory: DirectoryHandle,
  closed: ClosedDirectories | undefined,
): Promise<DirEntry[]> {
  const { entries } = await listDirectory(directory)
  const isVisible = ({ name, type }: DirEntry) =>
    !isTemporaryName(name) &&
    (type !== 'directory' || closed === undefined || isOpen(directory, name, closed))
  return entries.filter(isVisible).sort(compareNames)
}

function isOpen(directory: DirectoryHandle, name: string, closed: ClosedDirectories): boolean {
  const entry = lstatSync(directory.at(name), { throwIfNoEntry: false })
  return entry === undefined || !closed.isClosed(entry)
}

export function toStat(stats: Stats): Stat {
  const type = toFileType(stats)
  return {
    type,
    size: type === 'directory' ? 0 : stats.size,
    mtime: stats.mtime,
    mode: stats.mode & PERMISSIONS,
  }
}

function toFileType(entry: Stats | Dirent<string> | Dirent<Buffer>): FileType {
  if (entry.isFile()) return 'file'
  if (entry.isDirectory()) return 'directory'
  return entry.isSymbolicLink() ? 'symlink' : 'other'
}

function compareNames(one: DirEntry, other: DirEntry): number {
  return one.name < other.name ? -1 : 1
}
