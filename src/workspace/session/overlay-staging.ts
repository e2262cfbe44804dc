import { basename, dirname, join } from 'node:path'
import { quote } from '../isolation/index.ts'
import { factsOf } from './entry-facts.ts'
import type { OverlayPlace } from './overlay-place.ts'
import { inOverlay } from './overlay-script.ts'
import type { StagedChange } from './session.ts'
import { Staging, stagedPuts } from './staging.ts'
import { TreeWays } from './tree-ways.ts'

/** How many names one `rm` is given. */
const NAMES_AT_ONCE = 200

/**
 * Puts earlier changes into an upper tree. What is gone is removed through the overlay, which alone can mark it so for
 * every user; what was made is written where the overlay would have. ECONFLICT if that is behind a link.
 */
export async function stageOverlay(place: OverlayPlace, staged: readonly StagedChange[]): Promise<void> {
  const ways = new TreeWays(place.lower)
  const isThere = (path: string) => ways.leadsTo(path) && factsOf(join(place.lower, path)) !== undefined
  const gone = staged.filter(({ kind, path }) => kind === 'gone' && isThere(path)).map(({ path }) => path)
  if (gone.length > 0) await inOverlay(place, removals(place.lower, gone))
  const staging = new Staging(place.upper)
  const parents = new Parents(place, staging, ways)
  for (const put of stagedPuts(staged)) {
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
function removals(root: string, paths: readonly string[]): string[] {
  const byParent = Map.groupBy(paths, (path) => dirname(root + path))
  return [...byParent].flatMap(([parent, inIt]) => {
    const names = inIt.map((path) => quote(`./${basename(path)}`))
    return [
      `cd -P -- ${quote(parent)}`,
      `[ "$(pwd -P; echo .)" = ${quote(`${parent}\n.`)} ]`,
      ...batchesOf(names).map((batch) => `rm -rf -- ${batch.join(' ')}`),
    ]
  })
}

function batchesOf(names: readonly string[]): string[][] {
  return Array.from({ length: Math.ceil(names.length / NAMES_AT_ONCE) }, (_, index) =>
    names.slice(index * NAMES_AT_ONCE, (index + 1) * NAMES_AT_ONCE),
  )
}

/** Directories of an upper tree that are there because of what is in them. */
class Parents {
  readonly #place: OverlayPlace
  readonly #staging: Staging
  readonly #ways: TreeWays
  readonly #there = new Set(['/'])

  constructor(place: OverlayPlace, staging: Staging, ways: TreeWays) {
    this.#place = place
    this.#staging = staging
    this.#ways = ways
  }

  /** A directory that is in both trees is seen as the upper one says: it is made as it is below. */
  make(path: string): void {
    if (this.#there.has(path)) return
    this.#there.add(path)
    const [lower, upper] = [join(this.#place.lower, path), join(this.#place.upper, path)]
    if (factsOf(upper)?.isDirectory()) return
    this.#ways.assertDirectory(path)
    this.make(dirname(path))
    this.#staging.directoryLike(lower, upper)
  }
}
