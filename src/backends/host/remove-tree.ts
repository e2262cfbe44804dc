import { renameSync, rmdirSync } from 'node:fs'
import { createTemporaryName, type DirectoryHandle, isErrno, loadFsPromises } from '../../machine/index.ts'
import type { DirEntry } from '../../vfs/index.ts'
import { HostFsFault } from './host-errors.ts'
import { listDirectory } from './list-directory.ts'
import { type ConfinedPath, getEntry } from './path-resolution.ts'

const MAX_CONCURRENT_UNLINKS = 32
/** Maximum number of attempts to empty a directory that other processes keep filling. */
const MAX_ROUNDS = 8

/** Removes an entry. Throws ENOENT, and EISDIR for a directory unless `recursive`. */
export async function removeEntry(
  located: ConfinedPath,
  recursive: boolean,
  signal: AbortSignal | undefined,
): Promise<void> {
  const isDirectory = getEntry(located).isDirectory()
  if (isDirectory && !recursive) throw new HostFsFault('EISDIR')
  if (isDirectory) await removeTree(located.directory, located.name, signal)
  else await loadFsPromises().unlink(located.directory.at(located.name))
}

/**
 * Removes a directory with its content. It descends by handles and unlinks names, so a directory that is replaced by a
 * link meanwhile loses the link, and nothing behind it.
 */
async function removeTree(parent: DirectoryHandle, name: string, signal?: AbortSignal): Promise<void> {
  const directory = parent.enter(name)
  try {
    for (let round = 1; ; round++) {
      await emptyDirectory(directory, signal)
      if (tryRemoveDirectory(parent, name, round === MAX_ROUNDS)) return
    }
  } finally {
    directory.close()
  }
}

async function emptyDirectory(directory: DirectoryHandle, signal: AbortSignal | undefined): Promise<void> {
  const { entries, unreadable } = await listDirectory(directory)
  const files = entries.filter((entry) => !isDirectory(entry)).map(({ name }) => name)
  const others = files.concat(unreadable.map((bytes) => renameToUsable(directory, bytes)))
  for (let start = 0; start < others.length; start += MAX_CONCURRENT_UNLINKS) {
    signal?.throwIfAborted()
    await unlinkAll(directory, others.slice(start, start + MAX_CONCURRENT_UNLINKS))
  }
  for (const { name } of entries.filter(isDirectory)) {
    signal?.throwIfAborted()
    await ignoreMissing(() => removeTree(directory, name, signal))
  }
}

/** Waits for all calls even if one fails: the directory must not be closed during a call. */
async function unlinkAll(directory: DirectoryHandle, names: readonly string[]): Promise<void> {
  const results = await Promise.allSettled(
    names.map((name) => ignoreMissing(async () => loadFsPromises().unlink(directory.at(name)))),
  )
  for (const result of results) if (result.status === 'rejected') throw result.reason
}

/**
 * Ignores entries that another process removed or replaced; the next round handles them. (A directory whose name is not
 * UTF-8 reaches the next round this way too, under its new name.)
 */
async function ignoreMissing(step: () => Promise<void>): Promise<void> {
  try {
    await step()
  } catch (error) {
    if (!isErrno(error, 'ENOENT', 'ENOTDIR', 'EISDIR')) throw error
  }
}

function tryRemoveDirectory(parent: DirectoryHandle, name: string, isLastTry: boolean): boolean {
  try {
    rmdirSync(parent.at(name))
    return true
  } catch (error) {
    if (isErrno(error, 'ENOTEMPTY', 'EEXIST') && !isLastTry) return false
    throw error
  }
}

/** Renames an entry whose name is not UTF-8 to a usable name. */
function renameToUsable(directory: DirectoryHandle, name: Buffer): string {
  const usable = createTemporaryName()
  renameSync(Buffer.concat([Buffer.from(directory.at('')), name]), directory.at(usable))
  return usable
}

function isDirectory({ type }: DirEntry): boolean {
  return type === 'directory'
}
