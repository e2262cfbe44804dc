import { setTimeout as delay } from 'node:timers/promises'
import { type GitResult, type GitRun, runGit } from './git-command.ts'

const MAX_TRIES = 50
const MAX_DELAY_MS = 50
/** Messages of Git where another process has a lock, has just created a file, or has changed the shallow commits. */
const CONFLICT = /File exists|shallow file has changed since we read it/

/** Runs a command of Git that changes a repository. Tries again if another process changes the same file. */
export async function runGitBesideOthers(args: readonly string[], run: GitRun): Promise<GitResult> {
  for (let tries = 1; ; tries++) {
    const result = await runGit(args, run)
    if (result.code === 0 || tries === MAX_TRIES || !CONFLICT.test(result.stderr)) return result
    await delay(Math.random() * MAX_DELAY_MS, undefined, run.signal && { signal: run.signal })
  }
}
