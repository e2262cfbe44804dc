import { renameSync, rmdirSync } from 'node:fs'
import { unlink } from 'node:fs/promises'
import { type Directory, temporaryName } from '../../machine/index.ts'
import type { DirEntry } from '../../vfs/index.ts'
import { isErrno } from './host-errors.ts'
import { list } from './listing.ts'

const UNLINKED_AT_ONCE = 32
/** How often a directory that others keep filling is emptied again. */
const MAX_ROUNDS = 8

/**
 * Removes a directory with all it holds. It goes down from handle to handle and unlinks names, so a directory that
 * is replaced by a link meanwhile loses the link, and nothing behind it.
 */
export async function removeTree(parent: Directory, name: string, signal?: AbortSignal): Promise<void> {
  const directory = parent.enter(name)
  try {
    for (let round = 1; ; round++) {
      await empty(directory, signal)
      if (isRemoved(parent, name, round === MAX_ROUNDS)) return
    }
  } finally {
    directory.close()
  }
}

async function empty(directory: Directory, signal: AbortSignal | undefined): Promise<void> {
  const { entries, unreadable } = await list(directory)
  const files = entries.filter((entry) => !isDirectory(entry)).map(({ name }) => name)
  const others = files.concat(unreadable.map((bytes) => renamed(directory, bytes)))
  for (let at = 0; at < others.length; at += UNLINKED_AT_ONCE) {
    signal?.throwIfAborted()
    await unlinkAll(directory, others.slice(at, at + UNLINKED_AT_ONCE))
  }
  for (const { name } of entries.filter(isDirectory)) {
    signal?.throwIfAborted()
    await tolerant(() => removeTree(directory, name, signal))
  }
}

/** Waits for all of them even if one fails: the directory must not be closed under a call. */
async function unlinkAll(directory: Directory, names: readonly string[]): Promise<void> {
  const results = await Promise.allSettled(
    names.map((name) => tolerant(async () => unlink(directory.at(name)))),
  )
  for (const result of results) if (result.status === 'rejected') throw result.reason
}

/**
 * Passes over what somebody else removed, or made something else of: the next round sees what it is.
 * (A name that is not UTF-8 and a directory reaches the next round this way too, under its new name.)
 */
async function tolerant(step: () => Promise<void>): Promise<void> {
  try {
    await step()
  } catch (error) {
    if (!isErrno(error, 'ENOENT', 'ENOTDIR', 'EISDIR')) throw error
  }
}

function isRemoved(parent: Directory, name: string, isLastTry: boolean): boolean {
  try {
    rmdirSync(parent.at(name))
    return true
  } catch (error) {
    if (isErrno(error, 'ENOTEMPTY', 'EEXIST') && !isLastTry) return false
    throw error
  }
}

/** Gives a name that is not UTF-8, and so no string, one that can be used. */
function renamed(directory: Directory, name: Buffer): string {
  const usable = temporaryName()
  renameSync(Buffer.concat([Buffer.from(directory.at('')), name]), directory.at(usable))
  return usable
}

function isDirectory({ type }: DirEntry): boolean {
  return type === 'directory'
}
