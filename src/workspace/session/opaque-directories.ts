import type { Dir } from 'node:fs'
import { opendir, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { quote } from '../isolation/index.ts'
import { factsOf } from './entry-facts.ts'
import type { LockedEntries } from './locked-entries.ts'
import type { OverlayPlace } from './overlay-place.ts'
import { inOverlay } from './overlay-script.ts'

/** A directory in both trees, and a name that is only in the lower one: it is seen unless the upper covers it all. */
interface Question {
  readonly path: string
  readonly name: string
}

/**
 * The directories of an upper tree that cover what the base has below them. The mark for it is an attribute Node cannot
 * read, so the overlay itself is asked: whether a name that only the base has is there. O(changes).
 */
export async function opaqueDirectories(
  place: OverlayPlace,
  locked: LockedEntries,
): Promise<ReadonlySet<string>> {
  const questions: Question[] = []
  await collect(place, '', locked, questions)
  if (questions.length === 0) return new Set()
  const seen = await ask(place, questions)
  return new Set(questions.filter((_, index) => seen[index] === '0').map(({ path }) => path))
}

async function collect(
  place: OverlayPlace,
  path: string,
  locked: LockedEntries,
  questions: Question[],
): Promise<void> {
  const upper = join(place.upper, path)
  locked.factsOf(upper)
  const entries = await readdir(upper, { withFileTypes: true })
  // The root of a mount cannot be replaced.
  if (path !== '') {
    const name = await nameBelow(join(place.lower, path), new Set(entries.map((entry) => entry.name)))
    if (name !== undefined) questions.push({ path, name })
  }
  for (const entry of entries) {
    const below = `${path}/${entry.name}`
    if (!entry.isDirectory()) continue
    if (factsOf(join(place.lower, below))?.isDirectory()) await collect(place, below, locked, questions)
  }
}

/** The first name of a directory that is not among these. */
async function nameBelow(directory: string, names: ReadonlySet<string>): Promise<string | undefined> {
  const listing: Dir = await opendir(directory)
  for await (const { name } of listing) if (!names.has(name)) return name
  return undefined
}

function ask(place: OverlayPlace, questions: readonly Question[]): Promise<string> {
  const lines = questions.map(({ path, name }) => {
    const file = quote(join(place.lower, path, name))
    return `if [ -e ${file} ] || [ -L ${file} ]; then printf 1; else printf 0; fi`
  })
  return inOverlay(place, lines)
}
