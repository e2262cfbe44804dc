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
/** Number of users in the id map of the machine's own user namespace: all that there can be. */
const ALL_USERS = '4294967295'
/** Character that Node reads for bytes that are not UTF-8. */
const NOT_UTF8 = '\ufffd'
/** Number of paths for one program. */
const BATCH_SIZE = 200

/** A directory in both trees, and a name of the lower one only: the overlay shows it unless the upper is opaque. */
interface OpaqueProbe {
  readonly path: string
  readonly name: string
}

/**
 * Finds opaque directories of an upper tree, which hide all entries of the base. Their mark is an attribute that Node
 * cannot read, so a probe looks in the mounted overlay for a name that only the base has. O(changes).
 */
export async function findOpaqueDirectories(
  layout: OverlayLayout,
  locked: LockedEntries,
): Promise<ReadonlySet<string>> {
  const probes: OpaqueProbe[] = []
  await collectProbes(layout, '', locked, probes)
  if (probes.length === 0 || (await isNoneMarked(layout, probes))) return new Set()
  const seen = await runProbes(layout, probes)
  return new Set(probes.filter((_, index) => seen[index] === '0').map(({ path }) => path))
}

async function collectProbes(
  layout: OverlayLayout,
  path: string,
  locked: LockedEntries,
  probes: OpaqueProbe[],
): Promise<void> {
  const upper = join(layout.upper, path)
  locked.unlockStats(upper)
  const entries = listHostNames(upper)
  // The root of a mount cannot be replaced.
  if (path !== '') {
    const name = await findLowerOnlyName(
      join(layout.lower, path),
      new Set(entries.map((entry) => entry.name)),
    )
    if (name !== undefined) probes.push({ path, name })
  }
  for (const entry of entries) {
    const childPath = `${path}/${entry.name}`
    if (entry.raw !== undefined || !findStatsByName(upper, entry)?.isDirectory()) continue
    if (findEntryStats(join(layout.lower, childPath))?.isDirectory())
      await collectProbes(layout, childPath, locked, probes)
  }
}

/** Returns the first name of a directory that is not among these and is UTF-8. */
async function findLowerOnlyName(directory: string, names: ReadonlySet<string>): Promise<string | undefined> {
  // Node reads a name that is not UTF-8 as another, which does not exist: every directory would seem opaque.
  const listing: Dir = await opendir(directory)
  for await (const { name } of listing) if (!names.has(name) && !name.includes(NOT_UTF8)) return name
  return undefined
}

/**
 * True if it is certain that no directory has the mark. That is nearly always so, and quicker than a mount of the
 * overlay. Needs `getfattr`, and a kernel that shows it the mark.
 */
async function isNoneMarked(layout: OverlayLayout, probes: readonly OpaqueProbe[]): Promise<boolean> {
  const program = await findTool('getfattr')
  if (program === undefined || probes.length > BATCH_SIZE || !canSeeMarks(layout)) return false
  const paths = probes.map(({ path }) => join(layout.upper, path))
  try {
    const { stdout } = await promisify(execFile)(program, ['-h', '-m', OPAQUE_XATTR, '--', ...paths], {
      env: isolationEnvironment,
    })
    return stdout === ''
  } catch {
    // `getfattr` could not read one of them.
    return false
  }
}

/** Reports whether the kernel shows marks to this user. Those of root it shows only to root of the machine. */
function canSeeMarks({ privilege }: OverlayLayout): boolean {
  return (
    privilege === 'user' || readFileSync('/proc/self/uid_map', 'latin1').trim().split(/\s+/)[2] === ALL_USERS
  )
}

function runProbes(layout: OverlayLayout, probes: readonly OpaqueProbe[]): Promise<string> {
  const lines = probes.map(({ path, name }) => {
    const file = quoteWord(join(layout.lower, path, name))
    return `if [ -e ${file} ] || [ -L ${file} ]; then printf 1; else printf 0; fi`
  })
  return runInOverlay(layout, lines)
}
