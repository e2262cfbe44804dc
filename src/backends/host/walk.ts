import { lstatSync, type Stats } from 'node:fs'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Directory } from '../../machine/index.ts'
import type { VfsError, WalkEntry, WalkOptions } from '../../vfs/index.ts'
import type { ClosedDirectories } from './closed-directories.ts'
import { type Asked, hostError } from './host-errors.ts'
import { statOf, visibleEntries } from './listing.ts'

/** How many entries are described before other work of the process gets its turn. */
const ENTRIES_A_TURN = 256

/** One directory on the way down, and how far the walk is in it. */
interface Level {
  readonly directory: Directory
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
export async function* walkTree(
  open: () => Directory,
  asked: Asked,
  { maxDepth = Number.POSITIVE_INFINITY, includeDirs = false }: WalkOptions,
  closed: ClosedDirectories | undefined,
): AsyncGenerator<WalkEntry> {
  const levels: Level[] = []
  const enter = async (path: string, openIt: () => Directory) => {
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
      if (++seen % ENTRIES_A_TURN === 0) await nextTurn()
      const stats = describe(directory, name, asked)
      if (stats === undefined || closed?.isClosed(stats)) continue
      const path = prefix + name
      if (includeDirs || !stats.isDirectory()) yield { path, stat: statOf(stats) }
      if (stats.isDirectory()) await enter(path, () => directory.enter(name))
    }
  } finally {
    for (const { directory } of levels) directory.close()
  }
}

function describe(directory: Directory, name: string, asked: Asked): Stats | undefined {
  try {
    return lstatSync(directory.at(name), { throwIfNoEntry: false })
  } catch (error) {
    return skip(hostError(error, asked))
  }
}

async function openLevel(path: string, open: () => Directory, asked: Asked): Promise<Level | undefined> {
  let directory: Directory | undefined
  try {
    directory = open().guard()
    const entries = await visibleEntries(directory, undefined)
    const names = entries.map(({ name }) => name)
    return { directory, prefix: path === '/' ? path : `${path}/`, names, at: 0 }
  } catch (error) {
    directory?.close()
    return skip(hostError(error, asked))
  }
}

/** What cannot be read is skipped; to run out of handles is no reason to show less. */
function skip(error: VfsError): undefined {
  if (error.code === 'EUNAVAILABLE') throw error
}
