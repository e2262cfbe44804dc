import { execFile } from 'node:child_process'
import { type Dir, readFileSync } from 'node:fs'
import { opendir } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { findTool, quote, toolEnvironment } from '../isolation/index.ts'
import { factsOf } from './entry-facts.ts'
import { factsOfName, hostNames } from './host-names.ts'
import type { LockedEntries } from './locked-entries.ts'
import type { OverlayPlace } from './overlay-place.ts'
import { inOverlay } from './overlay-script.ts'

const MARK = '^(trusted|user)\\.overlay\\.opaque$'
const ALL_USERS = '4294967295'
/** What Node reads where a name has bytes that are not UTF-8. */
const NOT_UTF8 = '\ufffd'
/** How many paths one program is given. */
const PATHS_AT_ONCE = 200

/** A directory in both trees, and a name that is only in the lower one: it is seen unless the upper covers it all. */
interface Question {
  readonly path: string
  readonly name: string
}

/**
 * The directories of an upper tree that cover what the base has below them. The mark for it is an attribute Node cannot
 * read, so the overlay itself is asked where any may have it: whether a name that only the base has is there. O(changes).
 */
export async function opaqueDirectories(
  place: OverlayPlace,
  locked: LockedEntries,
): Promise<ReadonlySet<string>> {
  const questions: Question[] = []
  await collect(place, '', locked, questions)
  if (questions.length === 0 || (await isNoneMarked(place, questions))) return new Set()
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
  const entries = hostNames(upper)
  // The root of a mount cannot be replaced.
  if (path !== '') {
    const name = await nameBelow(join(place.lower, path), new Set(entries.map((entry) => entry.name)))
    if (name !== undefined) questions.push({ path, name })
  }
  for (const entry of entries) {
    const below = `${path}/${entry.name}`
    if (entry.raw !== undefined || !factsOfName(upper, entry)?.isDirectory()) continue
    if (factsOf(join(place.lower, below))?.isDirectory()) await collect(place, below, locked, questions)
  }
}

/** The first name of a directory that is not among these, and that can be asked for. */
async function nameBelow(directory: string, names: ReadonlySet<string>): Promise<string | undefined> {
  // One that is not UTF-8 reads as another, of which there is nothing: everything would seem to be covered.
  const listing: Dir = await opendir(directory)
  for await (const { name } of listing) if (!names.has(name) && !name.includes(NOT_UTF8)) return name
  return undefined
}

/**
 * Whether it is certain that no directory has the mark, which nearly always is so and takes less time than to mount the
 * overlay. Only where there is a program that shows attributes, and the kernel shows it this one.
 */
async function isNoneMarked(place: OverlayPlace, questions: readonly Question[]): Promise<boolean> {
  const program = await findTool('getfattr')
  if (program === undefined || questions.length > PATHS_AT_ONCE || !isShownMarks(place)) return false
  const paths = questions.map(({ path }) => join(place.upper, path))
  try {
    const { stdout } = await promisify(execFile)(program, ['-h', '-m', MARK, '--', ...paths], {
      env: toolEnvironment,
    })
    return stdout === ''
  } catch {
    // It could not look at one of them.
    return false
  }
}

/** Marks of root are shown to nobody but the superuser of the machine, who in a container is another. */
function isShownMarks({ privilege }: OverlayPlace): boolean {
  return (
    privilege === 'user' || readFileSync('/proc/self/uid_map', 'latin1').trim().split(/\s+/)[2] === ALL_USERS
  )
}

function ask(place: OverlayPlace, questions: readonly Question[]): Promise<string> {
  const lines = questions.map(({ path, name }) => {
    const file = quote(join(place.lower, path, name))
    return `if [ -e ${file} ] || [ -L ${file} ]; then printf 1; else printf 0; fi`
  })
  return inOverlay(place, lines)
}
