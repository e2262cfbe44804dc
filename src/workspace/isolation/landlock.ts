import { existsSync, readFileSync } from 'node:fs'
import type { CommandConfinement } from './command-confinement.ts'
import { privateDirectories } from './isolation-plan.ts'
import { findTool } from './isolation-tools.ts'
import { memoizeAsync, type ProbeResult, runProbe } from './probe.ts'

/** Everything that changes a file or a directory. */
const WRITE_RIGHTS =
  'write-file,remove-dir,remove-file,make-char,make-dir,make-reg,make-sock,make-fifo,make-block,make-sym,refer,truncate'

/**
 * The words before a command after which nothing can be changed but what is below some directories, whatever becomes of
 * the mounts: the kernel itself refuses it, to the command and all it starts. Reading is not its business.
 */
function createLandlockArgs(directories: readonly string[]): string[] {
  // Named once more: a rule without names allows everything there is, and more than is restricted is refused.
  const rules = directories.flatMap((path) => ['--landlock-rule', `path-beneath:${WRITE_RIGHTS}:${path}`])
  return ['setpriv', '--no-new-privs', '--landlock-access', `fs:${WRITE_RIGHTS}`, ...rules, '--']
}

/** The words for a confined command, where this host has them: a second wall behind the first. */
export async function findLandlockArgs(confined: CommandConfinement): Promise<string[]> {
  if (!(await probeLandlock()).works) return []
  const { workspace, isReadonly, scratch } = confined
  const own = [...privateDirectories, '/dev', '/proc'].filter((path) => existsSync(path))
  const further = [...(isReadonly ? [] : [workspace]), ...(scratch === undefined ? [] : [scratch])]
  return createLandlockArgs([...own, ...further])
}

/** Whether Landlock can be used on this host; found out once. It takes util-linux 2.40, and a kernel that has it. */
export const probeLandlock: () => Promise<ProbeResult> = memoizeAsync(probe)

async function probe(): Promise<ProbeResult> {
  const setpriv = await findTool('setpriv')
  if (setpriv === undefined) return { works: false, reason: 'setpriv is not installed' }
  if (!hasLandlockSupport(setpriv)) return { works: false, reason: 'setpriv does not know it' }
  return runProbe([...createLandlockArgs(['/tmp']), 'true'])
}

/** Every command would wait to be refused by an older one: to look into it takes a hundredth of that. */
function hasLandlockSupport(setpriv: string): boolean {
  try {
    return readFileSync(setpriv).includes('landlock')
  } catch {
    // It can be run and not be read.
    return true
  }
}
