import { realpathSync } from 'node:fs'
import { join } from 'node:path'
import { type Home, isMirrorFor, isMirrorName } from '../../backends/vault/index.ts'
import { isErrno, TaggedDirectory } from '../../machine/index.ts'
import type { CommandInvocation } from '../framework/command-invocation.ts'
import { findMountsDirectory } from './home-path.ts'

/**
 * Stores the changes of mounted forks and of commands whose process was killed, and completes or undoes an apply or undo
 * that was killed in the working directory. Prints the outcome.
 */
export async function recoverDirectory(call: CommandInvocation, home: Home): Promise<void> {
  // A read-only home cannot record the outcome.
  if (home.isReadOnly) return
  const mounts = findMountsDirectory(home.path)
  if (mounts !== undefined) {
    const { recoverMounts } = await import('./recover-forks.ts')
    await recoverMounts(call, home, mounts)
  }
  if (home.path !== undefined && hasLeftSessions(home.path)) {
    const { recoverCommands } = await import('./recover-forks.ts')
    await recoverCommands(call, home, home.path)
  }
  const directory = findWorkingDirectory()
  const mirrors = (await home.vaults()).filter(isMirrorName)
  if (directory === undefined || !mirrors.some((name) => isMirrorFor(name, directory))) return
  const { recoverLinkedDirectory } = await import('./recover-linked-directory.ts')
  await recoverLinkedDirectory(call, home, directory)
}

/** Reports whether a process that has ended left the files of a session. */
function hasLeftSessions(home: string): boolean {
  try {
    return TaggedDirectory.list(join(home, 'sessions')).some(({ isAbandoned }) => isAbandoned)
  } catch (error) {
    // Those of another user are theirs to store.
    if (isErrno(error, 'EACCES')) return false
    throw error
  }
}

/** Returns the working directory; undefined if it was deleted, which the command itself reports if it needs one. */
function findWorkingDirectory(): string | undefined {
  try {
    return realpathSync(process.cwd())
  } catch {
    return undefined
  }
}
