import { execFile } from 'node:child_process'
import { type Dir, readFileSync } from 'node:fs'
import { opendir } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { findTool, isolationEnvironment, quoteWord } from '../../isolation/index.ts'
import { findEntryStats } from '../entries/entry-stats.ts'
import { findStatsByName, listHostNames } from '../entries/host-names.ts'
import type { LockedEntries } from '../entries/locked-entries.ts'
import type { OverlayLayout } from './overlay-layout.ts'
import { runInOverlay } from './run-in-overlay.ts'

const OPAQUE_XATTR = '^(trusted|user)\\.overlay\\.opaque$'
const ALL_USERS = '4294967295'
/** Character that Node reads for bytes that are not UTF-8. */
const NOT_UTF8 = '\ufffd'
/** Number of paths for one program. */
const BATCH_SIZE = 200

/** A directory in both trees, and a name that is only in the lower one: it is seen unless the upper covers it all. */
interface OpaqueProbe {
  readonly path: string
  readonly name: string
}

/**
 * The directories of an upper tree that cover what the base has below them. The mark for it is an attribute Node cannot
 * read, so the overlay itself is asked where any may have it: whether a name that only the base has is there. O(changes).
 */
export async function findOpaqueDirectories(
  place: OverlayLayout,
  locked: LockedEntries,
): Promise<ReadonlySet<string>> {
  const questions: OpaqueProbe[] = []
  await collectProbes(place, '', locked, questions)
  if (questions.length === 0 || (await isNoneMarked(place, questions))) return new Set()
  const seen = await runProbes(place, questions)
  return new Set(questions.filter((_, index) => seen[index] === '0').map(({ path }) => path))
}

async function collectProbes(
  place: OverlayLayout,
  path: string,
  locked: LockedEntries,
  questions: OpaqueProbe[],
): Promise<void> {
  const upper = join(place.upper, path)
  locked.unlockStats(upper)
  const entries = listHostNames(upper)
  // The root of a mount cannot be replaced.
  if (path !== '') {
    const name = await findLowerOnlyName(join(place.lower, path), new Set(entries.map((entry) => entry.name)))
    if (name !== undefined) questions.push({ path, name })
  }
  for (const entry of entries) {
    const below = `${path}/${entry.name}`
    if (entry.raw !== undefined || !findStatsByName(upper, entry)?.isDirectory()) continue
    if (findEntryStats(join(place.lower, below))?.isDirectory())
      await collectProbes(place, below, locked, questions)
  }
}

/** The first name of a directory that is not among these, and that can be asked for. */
async function findLowerOnlyName(directory: string, names: ReadonlySet<string>): Promise<string | undefined> {
  // One that is not UTF-8 reads as another, of which there is nothing: everything would seem to be covered.
  const listing: Dir = await opendir(directory)
  for await (const { name } of listing) if (!names.has(name) && !name.includes(NOT_UTF8)) return name
  return undefined
}

/**
 * Whether it is certain that no directory has the mark, which nearly always is so and takes less time than to mount the
 * overlay. Only where there is a program that shows attributes, and the kernel shows it this one.
 */
async function isNoneMarked(place: OverlayLayout, questions: readonly OpaqueProbe[]): Promise<boolean> {
  const program = await findTool('getfattr')
  if (program === undefined || questions.length > BATCH_SIZE || !canSeeMarks(place)) return false
  const paths = questions.map(({ path }) => join(place.upper, path))
  try {
    const { stdout } = await promisify(execFile)(program, ['-h', '-m', OPAQUE_XATTR, '--', ...paths], {
      env: isolationEnvironment,
    })
    return stdout === ''
  } catch {
    // It could not look at one of them.
    return false
  }
}

/** Marks of root are shown to nobody but the superuser of the machine, who in a container is another. */
function canSeeMarks({ privilege }: OverlayLayout): boolean {
  return (
    privilege === 'user' || readFileSync('/proc/self/uid_map', 'latin1').trim().split(/\s+/)[2] === ALL_USERS
  )
}

function runProbes(place: OverlayLayout, questions: readonly OpaqueProbe[]): Promise<string> {
  const lines = questions.map(({ path, name }) => {
    const file = quoteWord(join(place.lower, path, name))
    return `if [ -e ${file} ] || [ -L ${file} ]; then printf 1; else printf 0; fi`
  })
  return runInOverlay(place, lines)
}
