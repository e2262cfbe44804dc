import { isUtf8 } from 'node:buffer'
import { type Dirent, lstatSync, readdirSync, type Stats } from 'node:fs'
import { type DirectoryHandle, isTemporaryName, loadFsPromises } from '../../machine/index.ts'
import type { DirEntry, FileType, Stat } from '../../vfs/index.ts'
import type { ClosedDirectories } from './closed-directories.ts'

/** The replacement for bytes that are not UTF-8. It may also be part of a name. */
const REPLACEMENT = '\ufffd'
const PERMISSIONS = 0o7777
/** Directories up to this size, some thousand names, are read synchronously: that takes less time than to wake a thread. */
const MAX_SYNC_BYTES = 64 * 1024

/** The entries of a directory. */
export interface DirectoryListing {
  readonly entries: readonly DirEntry[]
  /** Names that are not UTF-8, which no path can contain. */
  readonly unreadable: readonly Buffer[]
}

export async function listDirectory(directory: DirectoryHandle): Promise<DirectoryListing> {
  const found = await readEntries(directory.at('.'))
  directory.assertInsideRoot()
  if (found.some(({ name }) => name.includes(REPLACEMENT))) return listDirectoryBytes(directory)
  return { entries: found.map((entry) => ({ name: entry.name, type: toFileType(entry) })), unreadable: [] }
}

function readEntries(path: string): Dirent[] | Promise<Dirent[]> {
  const isSmall = lstatSync(path).size <= MAX_SYNC_BYTES
  const options = { withFileTypes: true } as const
  return isSmall ? readdirSync(path, options) : loadFsPromises().readdir(path, options)
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
    // The property `mtime` is computed at its first use, which takes longer.
    mtime: new Date(Math.round(stats.mtimeMs)),
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
