import { dirname, join } from 'node:path'
import { quote } from '../isolation/index.ts'
import { factsOf } from './entry-facts.ts'
import type { OverlayPlace } from './overlay-place.ts'
import { inOverlay } from './overlay-script.ts'
import type { StagedChange } from './session.ts'
import { Staging, stagedPuts } from './staging.ts'

/** How many paths one `rm` is given. */
const PATHS_AT_ONCE = 200

/**
 * Puts earlier changes into an upper tree. What is gone is removed through the overlay, which alone can mark it so for
 * every user; what was made is written where the overlay would have.
 */
export async function stageOverlay(place: OverlayPlace, staged: readonly StagedChange[]): Promise<void> {
  const gone = staged
    .filter(({ kind, path }) => kind === 'gone' && factsOf(join(place.lower, path)) !== undefined)
    .map(({ path }) => quote(join(place.lower, path)))
  if (gone.length > 0) await inOverlay(place, removals(gone))
  const staging = new Staging()
  const parents = new Parents(place, staging)
  for (const put of stagedPuts(staged)) {
    parents.make(dirname(put.path))
    await staging.put(put, join(place.upper, put.path))
  }
  staging.finish()
}

function removals(paths: readonly string[]): string[] {
  const batches = Array.from({ length: Math.ceil(paths.length / PATHS_AT_ONCE) }, (_, index) =>
    paths.slice(index * PATHS_AT_ONCE, (index + 1) * PATHS_AT_ONCE),
  )
  return batches.map((batch) => `rm -rf -- ${batch.join(' ')}`)
}

/** Directories of an upper tree that are there because of what is in them. */
class Parents {
  readonly #place: OverlayPlace
  readonly #staging: Staging
  readonly #there = new Set(['/'])

  constructor(place: OverlayPlace, staging: Staging) {
    this.#place = place
    this.#staging = staging
  }

  /** A directory that is in both trees is seen as the upper one says: it is made as it is below. */
  make(path: string): void {
    if (this.#there.has(path)) return
    this.#there.add(path)
    const [lower, upper] = [join(this.#place.lower, path), join(this.#place.upper, path)]
    if (factsOf(upper)?.isDirectory()) return
    this.make(dirname(path))
    this.#staging.directoryLike(lower, upper)
  }
}
