import { lstatSync, type Stats } from 'node:fs'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { DirectoryHandle } from '../../machine/index.ts'
import type { VfsError, WalkEntry, WalkOptions } from '../../vfs/index.ts'
import type { ClosedDirectories } from './closed-directories.ts'
import { type HostCall, hostError } from './host-errors.ts'
import { listVisibleEntries, toStat } from './list-directory.ts'

/** Number of entries between two yields to other work. */
const ENTRIES_PER_YIELD = 256

/** A directory in progress, and the position in it. */
interface Level {
  readonly directory: DirectoryHandle
  /** The path of the directory with a trailing slash. */
  readonly prefix: string
  readonly names: readonly string[]
  /** Index of the next name. */
  index: number
}

/**
 * Walks depth first in the order of names, without following links. It descends by handles, so the cost does not depend
 * on the depth; one directory per level is open. Omits `closed` directories and hard links of the files in them.
 */
export async function* walkHostTree(
  open: () => DirectoryHandle,
  call: HostCall,
  { maxDepth = Number.POSITIVE_INFINITY, includeDirs = false }: WalkOptions,
  closed: ClosedDirectories | undefined,
): AsyncGenerator<WalkEntry> {
  const levels: Level[] = []
  const enter = async (path: string, openChild: () => DirectoryHandle) => {
    const level = levels.length < maxDepth ? await openLevel(path, openChild, call) : undefined
    if (level) levels.push(level)
  }
  try {
    await enter(call.path, open)
    let visited = 0
    for (let level = levels.at(-1); level; level = levels.at(-1)) {
      const { directory, prefix, names } = level
      const name = names[level.index++]
      if (name === undefined) {
        levels.pop()
        directory.close()
        continue
      }
      if (++visited % ENTRIES_PER_YIELD === 0) await nextTurn()
      const stats = lstatIfPresent(directory, name, call)
      if (stats === undefined || closed?.isClosed(stats)) continue
      const path = prefix + name
      if (includeDirs || !stats.isDirectory()) yield { path, stat: toStat(stats) }
      if (stats.isDirectory()) await enter(path, () => directory.enter(name))
    }
  } finally {
    for (const { directory } of levels) directory.close()
  }
}

function lstatIfPresent(directory: DirectoryHandle, name: string, call: HostCall): Stats | undefined {
  try {
    return lstatSync(directory.at(name), { throwIfNoEntry: false })
  } catch (error) {
    return ignoreUnreadable(hostError(error, call))
  }
}

async function openLevel(
  path: string,
  open: () => DirectoryHandle,
  call: HostCall,
): Promise<Level | undefined> {
  let directory: DirectoryHandle | undefined
  try {
    directory = open().closeOnFinalize()
    const entries = await listVisibleEntries(directory, undefined)
    const names = entries.map(({ name }) => name)
    return { directory, prefix: path === '/' ? path : `${path}/`, names, index: 0 }
  } catch (error) {
    directory?.close()
    return ignoreUnreadable(hostError(error, call))
  }
}

/** Returns undefined for an entry that cannot be read. Throws EUNAVAILABLE, such as for too many open files. */
function ignoreUnreadable(error: VfsError): undefined {
  if (error.code === 'EUNAVAILABLE') throw error
}
