import { lstatSync, type Stats } from 'node:fs'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { DirectoryHandle } from '../../machine/index.ts'
import type { VfsError, WalkEntry, WalkOptions } from '../../vfs/index.ts'
import type { ClosedDirectories } from './closed-directories.ts'
import { type HostCall, hostError } from './host-errors.ts'
import { listVisibleEntries, toStat } from './list-directory.ts'

/** How many entries are described before other work of the process gets its turn. */
const ENTRIES_PER_YIELD = 256

/** One directory on the way down, and how far the walk is in it. */
interface Level {
  readonly directory: DirectoryHandle
  /** The path of its entries, up to their names. */
  readonly prefix: string
  readonly names: readonly string[]
  at: number
}

/**
 * Everything below a directory, depth first in the order of names, without following links.
 * It goes down from handle to handle, so it costs the same at any depth; one directory a level is open meanwhile.
 * Closed directories are left out.
 */
export async function* walkHostTree(
  open: () => DirectoryHandle,
  asked: HostCall,
  { maxDepth = Number.POSITIVE_INFINITY, includeDirs = false }: WalkOptions,
  closed: ClosedDirectories | undefined,
): AsyncGenerator<WalkEntry> {
  const levels: Level[] = []
  const enter = async (path: string, openIt: () => DirectoryHandle) => {
    const level = levels.length < maxDepth ? await openLevel(path, openIt, asked) : undefined
    if (level) levels.push(level)
  }
  try {
    await enter(asked.path, open)
    let seen = 0
    for (let level = levels.at(-1); level; level = levels.at(-1)) {
      const { directory, prefix, names } = level
      const name = names[level.at++]
      if (name === undefined) {
        levels.pop()
        directory.close()
        continue
      }
      if (++seen % ENTRIES_PER_YIELD === 0) await nextTurn()
      const stats = lstatIfPresent(directory, name, asked)
      if (stats === undefined || closed?.isClosed(stats)) continue
      const path = prefix + name
      if (includeDirs || !stats.isDirectory()) yield { path, stat: toStat(stats) }
      if (stats.isDirectory()) await enter(path, () => directory.enter(name))
    }
  } finally {
    for (const { directory } of levels) directory.close()
  }
}

function lstatIfPresent(directory: DirectoryHandle, name: string, asked: HostCall): Stats | undefined {
  try {
    return lstatSync(directory.at(name), { throwIfNoEntry: false })
  } catch (error) {
    return ignoreUnreadable(hostError(error, asked))
  }
}

async function openLevel(
  path: string,
  open: () => DirectoryHandle,
  asked: HostCall,
): Promise<Level | undefined> {
  let directory: DirectoryHandle | undefined
  try {
    directory = open().closeOnFinalize()
    const entries = await listVisibleEntries(directory, undefined)
    const names = entries.map(({ name }) => name)
    return { directory, prefix: path === '/' ? path : `${path}/`, names, at: 0 }
  } catch (error) {
    directory?.close()
    return ignoreUnreadable(hostError(error, asked))
  }
}

/** What cannot be read is skipped; to run out of handles is no reason to show less. */
function ignoreUnreadable(error: VfsError): undefined {
  if (error.code === 'EUNAVAILABLE') throw error
}
