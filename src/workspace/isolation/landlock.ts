import { existsSync, readFileSync } from 'node:fs'
import type { CommandConfinement } from './command-confinement.ts'
import { privateDirectories } from './isolation-plan.ts'
import { findTool } from './isolation-tools.ts'
import { memoizeAsync, type ProbeResult, runProbe } from './probe.ts'

/** Rights that change a file or a directory. */
const WRITE_RIGHTS =
  'write-file,remove-dir,remove-file,make-char,make-dir,make-reg,make-sock,make-fifo,make-block,make-sym,refer,truncate'

/**
 * Returns the arguments before a command that let it change files only below the given directories. The kernel
 * enforces this for all its processes, whatever they mount. Reading is not restricted.
 */
function createLandlockArgs(directories: readonly string[]): string[] {
  // Each rule repeats the rights: without them it would grant all rights, and the kernel refuses rights that are not
  // restricted.
  const rules = directories.flatMap((path) => ['--landlock-rule', `path-beneath:${WRITE_RIGHTS}:${path}`])
  return ['setpriv', '--no-new-privs', '--landlock-access', `fs:${WRITE_RIGHTS}`, ...rules, '--']
}

/**
 * Returns the Landlock arguments for a confined command, or none if this host lacks Landlock. They are a second
 * barrier behind the mounts.
 */
export async function findLandlockArgs(confined: CommandConfinement): Promise<string[]> {
  if (!(await probeLandlock()).works) return []
  const { workspace, isReadonly, scratch } = confined
  const own = [...privateDirectories, '/dev', '/proc'].filter((path) => existsSync(path))
  const further = [...(isReadonly ? [] : [workspace]), ...(scratch === undefined ? [] : [scratch])]
  return createLandlockArgs([...own, ...further])
}

/** Reports whether Landlock works on this host; probed once. It needs util-linux 2.40 and a kernel with Landlock. */
export const probeLandlock: () => Promise<ProbeResult> = memoizeAsync(probe)

async function probe(): Promise<ProbeResult> {
  const setpriv = await findTool('setpriv')
  if (setpriv === undefined) return { works: false, reason: 'setpriv is not installed' }
  if (!hasLandlockSupport(setpriv))
    return { works: false, reason: 'this version of setpriv has no Landlock options' }
  return runProbe([...createLandlockArgs(['/tmp']), 'true'])
}

/** True if this setpriv has Landlock options. Searching the file takes a hundredth of the time of a failing run. */
function hasLandlockSupport(setpriv: string): boolean {
  try {
    return readFileSync(setpriv).includes('landlock')
  } catch {
    // The file may be executable but not readable.
    return true
  }
}
