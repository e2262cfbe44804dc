import { mkdirSync, mkdtempSync, readdirSync, symlinkSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { CommandConfinement } from './command-confinement.ts'
import { createReadOnlyCall, createSelfBind, type HostMountPoint, READ_ONLY_FUNCTION } from './host-mounts.ts'
import { formatCommandLine, quoteWord } from './quote.ts'

/**
 * No redirects: a directory that is renamed is copied, and the upper tree holds all that changed. No index: a file of
 * the base with several names becomes separate files, as it would in any copy. Volatile: nothing is forced to disk.
 */
const OVERLAY_OPTIONS = 'redirect_dir=nofollow,index=off,metacopy=off,volatile'
const SCRATCH_PREFIX = 'scratch-'

/** Where a shell finds what an overlay is made of: below the directory of a session, in which it runs. */
interface OverlayTrees {
  readonly session: string
  /** Relative to it, with `lower` (a link to what is covered) and `upper` in it. */
  readonly place: string
  readonly privilege: 'root' | 'user'
}

/**
 * The line of a shell that puts an overlay over a directory, once. It is mounted from below the working directory: no
 * path of a user gets into mount options, where commas and colons mean something.
 */
export function createOverlayLine({ session, place, privilege }: OverlayTrees, directory: string): string {
  // A volatile overlay does not take a work directory twice. Made here, since a shell would start a program for it.
  const work = basename(mkdtempSync(join(session, place, 'work-')))
  const layers = `lowerdir=${place}/lower,upperdir=${place}/upper,workdir=${place}/${work}`
  const options = `${layers},${OVERLAY_OPTIONS}${privilege === 'user' ? ',userxattr' : ''}`
  return `mount -n -t overlay -o ${options} overlay ${quoteWord(directory)}`
}

/**
 * Lines that make changes below the scratch directory go nowhere; if that cannot be, there can be none. A user cannot
 * have an overlay over a directory in which something is mounted.
 */
export function createScratchLines(
  confined: CommandConfinement,
  mounts: readonly HostMountPoint[],
): string[] {
  const { directory: session, scratch, privilege } = confined
  if (scratch === undefined) return []
  const path = quoteWord(scratch)
  // By the shell, which can remove whatever a command has left there.
  const earlier = readdirSync(session).filter((name) => name.startsWith(SCRATCH_PREFIX))
  const overlay = createOverlayLine(
    { session, place: createScratchDirectory(session, scratch), privilege },
    scratch,
  )
  const below = mounts.filter((mount) => mount.path.startsWith(`${scratch}/`))
  const calls = [createSelfBind(scratch, mounts), ...below].map(createReadOnlyCall)
  const readOnly = [READ_ONLY_FUNCTION, ...calls].join('; ')
  return [
    ...(earlier.length === 0 ? [] : [`rm -rf ${formatCommandLine(earlier)}`]),
    `${overlay} 2>&- || { mount -n --rbind ${path} ${path}; ${readOnly}; }`,
  ]
}

function createScratchDirectory(session: string, directory: string): string {
  const path = mkdtempSync(join(session, SCRATCH_PREFIX))
  mkdirSync(join(path, 'upper'))
  symlinkSync(directory, join(path, 'lower'))
  return basename(path)
}
