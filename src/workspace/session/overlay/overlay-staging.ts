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
 * Applies earlier changes to an upper tree. Removals go through the mounted overlay, since only the kernel can create
 * whiteouts for every user. Puts are written to the upper tree directly. Throws ECONFLICT if a put is behind a link.
 */
export async function stageOverlay(layout: OverlayLayout, staged: readonly StagedChange[]): Promise<void> {
  const reachable = new LinkFreePaths(layout.lower)
  const existsBelow = (path: string) =>
    reachable.isReachable(path) && findEntryStats(join(layout.lower, path)) !== undefined
  const gone = staged.filter(({ kind, path }) => kind === 'gone' && existsBelow(path)).map(({ path }) => path)
  if (gone.length > 0) await runInOverlay(layout, createRemovalLines(layout.lower, gone))
  const staging = new Staging(layout.upper)
  const parents = new UpperParents(layout, staging, reachable)
  for (const put of sortPuts(staged)) {
    parents.create(dirname(put.path))
    await staging.put(put)
  }
  staging.finish()
}

/**
 * Returns shell lines that enter each directory and remove names in it. The shell stays in a directory even if another
 * process replaces its path by a link, which could lead anywhere on the machine. A line that meets such a link fails.
 */
function createRemovalLines(root: string, paths: readonly string[]): string[] {
  const byParent = Map.groupBy(paths, (path) => dirname(root + path))
  return [...byParent].flatMap(([parent, children]) => {
    const names = children.map((path) => quoteWord(`./${basename(path)}`))
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

/** Directories of an upper tree that exist only for their entries. */
class UpperParents {
  readonly #layout: OverlayLayout
  readonly #staging: Staging
  readonly #reachable: LinkFreePaths
  readonly #created = new Set(['/'])

  constructor(layout: OverlayLayout, staging: Staging, reachable: LinkFreePaths) {
    this.#layout = layout
    this.#staging = staging
    this.#reachable = reachable
  }

  /** Creates a missing directory with the attributes of the lower one: the overlay shows those of the upper. */
  create(path: string): void {
    if (this.#created.has(path)) return
    this.#created.add(path)
    const [lower, upper] = [join(this.#layout.lower, path), join(this.#layout.upper, path)]
    if (findEntryStats(upper)?.isDirectory()) return
    this.#reachable.assertDirectory(path)
    this.create(dirname(path))
    this.#staging.createDirectoryLike(lower, upper)
  }
}
