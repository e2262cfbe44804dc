import { mkdirSync, mkdtempSync, readdirSync, symlinkSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { CommandConfinement } from './command-confinement.ts'
import { createReadOnlyCall, createSelfBind, type HostMountPoint, READ_ONLY_FUNCTION } from './host-mounts.ts'
import { formatCommandLine, quoteWord } from './quote.ts'

/**
 * No redirects, so the upper tree holds every change: a rename of a directory of the base is EXDEV, and programs such as
 * `mv` copy it instead. For users other than root the kernel has no redirects anyway. No index: a file of the
 * base with several names becomes separate files, as in any copy.
 */
const OVERLAY_OPTIONS = 'redirect_dir=nofollow,index=off,metacopy=off'
const SCRATCH_PREFIX = 'scratch-'

/** The trees of an overlay, below the session's directory in which the shell line runs. */
interface OverlayTrees {
  readonly session: string
  /** Path relative to the session's directory. It contains `lower`, a link to the covered directory, and `upper`. */
  readonly directory: string
  readonly privilege: 'root' | 'user'
  /** Source that `mount` and `df` show. */
  readonly source?: string
}

/**
 * Returns the shell line that mounts an overlay over a directory; each line works once. The options name only
 * relative paths, because a comma or colon in a user's path would end an option.
 */
export function createOverlayLine(
  { session, directory: treesDirectory, privilege, source = 'overlay' }: OverlayTrees,
  directory: string,
): string {
  // A volatile overlay rejects a work directory that was used before. Creating it here saves a process in the shell.
  const work = basename(mkdtempSync(join(session, treesDirectory, 'work-')))
  const layers = `lowerdir=${treesDirectory}/lower,upperdir=${treesDirectory}/upper,workdir=${treesDirectory}/${work}`
  // Volatile: the kernel does not sync to disk.
  return createMountLine(`${layers},volatile`, privilege, source, directory)
}

/** Returns the shell line that mounts an overlay, read-only. It works any number of times, also at the same time. */
export function createReadOnlyOverlayLine(
  { directory: treesDirectory, privilege, source = 'overlay' }: Omit<OverlayTrees, 'session'>,
  directory: string,
): string {
  return createMountLine(
    `lowerdir=${treesDirectory}/upper:${treesDirectory}/lower`,
    privilege,
    source,
    directory,
  )
}

function createMountLine(
  layers: string,
  privilege: 'root' | 'user',
  source: string,
  directory: string,
): string {
  const options = `${layers},${OVERLAY_OPTIONS}${privilege === 'user' ? ',userxattr' : ''}`
  return `mount -n -t overlay -o ${options} ${quoteWord(source)} ${quoteWord(directory)}`
}

/**
 * Creates the directory of the layer over the home in the session's directory, and returns its name; undefined if the
 * home has no such layer.
 */
export function createScratchDirectory({
  directory: session,
  scratch,
}: Pick<CommandConfinement, 'directory' | 'scratch'>): string | undefined {
  if (scratch === undefined) return undefined
  const path = mkdtempSync(join(session, SCRATCH_PREFIX))
  mkdirSync(join(path, 'upper'))
  symlinkSync(scratch, join(path, 'lower'))
  return basename(path)
}

/**
 * Returns shell lines that discard changes below the scratch directory, or make it read-only if the overlay fails. A
 * user cannot mount an overlay over a directory that contains mounts.
 *
 * @param name name of the layer's directory, from `createScratchDirectory`.
 * @param fallback lines that run where the overlay fails.
 */
export function createScratchLines(
  confined: CommandConfinement,
  name: string | undefined,
  mounts: readonly HostMountPoint[],
  fallback: readonly string[] = [],
): string[] {
  const { directory: session, scratch, privilege } = confined
  if (scratch === undefined || name === undefined) return []
  const path = quoteWord(scratch)
  // The shell removes them, because it runs with the privilege of the commands that wrote them.
  const earlier = readdirSync(session).filter((each) => each.startsWith(SCRATCH_PREFIX) && each !== name)
  const overlay = createOverlayLine({ session, directory: name, privilege }, scratch)
  const nestedMounts = mounts.filter((mount) => mount.path.startsWith(`${scratch}/`))
  const calls = [createSelfBind(scratch, mounts), ...nestedMounts].map(createReadOnlyCall)
  const readOnly = [READ_ONLY_FUNCTION, ...calls, ...fallback].join('; ')
  return [
    ...(earlier.length === 0 ? [] : [`rm -rf ${formatCommandLine(earlier)}`]),
    `${overlay} 2>&- || { mount -n --rbind ${path} ${path}; ${readOnly}; }`,
  ]
}
