import { basename, dirname, join } from 'node:path'
import { quoteWord } from '../../isolation/index.ts'
import type { StagedChange } from '../command-session.ts'
import { findEntryStats } from '../entries/entry-stats.ts'
import { LinkFreePaths } from '../entries/link-free-paths.ts'
import { Staging, sortPuts } from '../entries/staging.ts'
import type { OverlayLayout } from './overlay-layout.ts'
import { runInOverlay } from './run-in-overlay.ts'

/** Number of names for one `rm`. */
const BATCH_SIZE = 200

/**
 * Puts earlier changes into an upper tree. What is gone is removed through the overlay, which alone can mark it so for
 * every user; what was made is written where the overlay would have. ECONFLICT if that is behind a link.
 */
export async function stageOverlay(place: OverlayLayout, staged: readonly StagedChange[]): Promise<void> {
  const ways = new LinkFreePaths(place.lower)
  const isThere = (path: string) =>
    ways.isReachable(path) && findEntryStats(join(place.lower, path)) !== undefined
  const gone = staged.filter(({ kind, path }) => kind === 'gone' && isThere(path)).map(({ path }) => path)
  if (gone.length > 0) await runInOverlay(place, createRemovalLines(place.lower, gone))
  const staging = new Staging(place.upper)
  const parents = new UpperParents(place, staging, ways)
  for (const put of sortPuts(staged)) {
    parents.make(dirname(put.path))
    await staging.put(put)
  }
  staging.finish()
}

/**
 * Lines that remove names from the directories they are in. A shell that has gone into a directory stays in it, whatever
 * its name leads to next: somebody may put a link there at any moment, and the rest of the machine is within reach.
 * Where somebody just did, the first line that notices fails.
 */
function createRemovalLines(root: string, paths: readonly string[]): string[] {
  const byParent = Map.groupBy(paths, (path) => dirname(root + path))
  return [...byParent].flatMap(([parent, inIt]) => {
    const names = inIt.map((path) => quoteWord(`./${basename(path)}`))
    return [
      `cd -P -- ${quoteWord(parent)}`,
      `[ "$(pwd -P; echo .)" = ${quoteWord(`${parent}\n.`)} ]`,
      ...splitBatches(names).map((batch) => `rm -rf -- ${batch.join(' ')}`),
    ]
  })
}

function splitBatches(names: readonly string[]): string[][] {
  return Array.from({ length: Math.ceil(names.length / BATCH_SIZE) }, (_, index) =>
    names.slice(index * BATCH_SIZE, (index + 1) * BATCH_SIZE),
  )
}

/** Directories of an upper tree that are there because of what is in them. */
class UpperParents {
  readonly #place: OverlayLayout
  readonly #staging: Staging
  readonly #ways: LinkFreePaths
  readonly #there = new Set(['/'])

  constructor(place: OverlayLayout, staging: Staging, ways: LinkFreePaths) {
    this.#place = place
    this.#staging = staging
    this.#ways = ways
  }

  /** A directory that is in both trees is seen as the upper one says: it is made as it is below. */
  make(path: string): void {
    if (this.#there.has(path)) return
    this.#there.add(path)
    const [lower, upper] = [join(this.#place.lower, path), join(this.#place.upper, path)]
    if (findEntryStats(upper)?.isDirectory()) return
    this.#ways.assertDirectory(path)
    this.make(dirname(path))
    this.#staging.createDirectoryLike(lower, upper)
  }
}
