import { realpathSync } from 'node:fs'
import { delimiter, resolve } from 'node:path'
import { isWithin } from '../../vfs/index.ts'
import { privateDirectories } from '../isolation/index.ts'
import type { CommandSession, RunOutcome, RunSpec } from '../session/index.ts'
import { explainRepository } from './linked-worktree.ts'

/** Messages of the C library and of Node for EXDEV. */
const EXDEV_MESSAGES: readonly string[] = ['Invalid cross-device link', 'EXDEV: cross-device link']
const RENAME_REASON =
  'a fork cannot rename a directory of the project in one step (EXDEV); use mv, which copies it, or --session dir'

/** Messages of env and of shells for a program that is missing. */
const MISSING_PROGRAM = /^env: ['‘](.+?)['’]: No such file|: ([^\s:]+): (?:command )?not found\s*$/m
/** End of an output in which a missing program is looked for. */
const LAST_BYTES = 4096

/** The place in which a command failed. */
export interface FailureContext extends Pick<CommandSession, 'kind'> {
  /** The directory that the fork is of; the name of a vault otherwise. */
  readonly directory: string
  readonly env: RunSpec['env']
}

/** Adds the reason to the errors of a command that failed only because it ran in a fork. */
export function addFailureNotice(
  outcome: RunOutcome,
  context: FailureContext,
  onOutput: RunSpec['onOutput'],
): RunOutcome {
  const output = Buffer.from(outcome.lastOutput ?? outcome.stderr)
  const reason =
    explainRename(output, outcome, context) ??
    explainRepository(output, context.directory) ??
    explainMissingProgram(output, context)
  if (reason === undefined) return outcome
  const notice = Buffer.from(`coppice: ${reason}\n`)
  onOutput?.('stderr', notice)
  return { ...outcome, stderr: Buffer.concat([outcome.stderr, notice]) }
}

/** The kernel's overlay does not rename directories of its base. `mv` copies them instead; `git mv` gives up. */
function explainRename(
  output: Buffer,
  { exitCode }: RunOutcome,
  { kind }: FailureContext,
): string | undefined {
  if (kind !== 'overlay' || exitCode === 0) return undefined
  return EXDEV_MESSAGES.some((message) => output.includes(message)) ? RENAME_REASON : undefined
}

/** A command has directories such as `/tmp` of its own: what is installed there is missing. */
function explainMissingProgram(
  output: Buffer,
  { directory, env }: Pick<FailureContext, 'directory' | 'env'>,
): string | undefined {
  const [, ...names] = MISSING_PROGRAM.exec(output.subarray(-LAST_BYTES).toString()) ?? []
  const name = names.find((found) => found !== undefined)
  if (name === undefined) return undefined
  const path = findProgram(name, env['PATH'] ?? '')
  const hiding = privateDirectories.find((each) => path !== undefined && isWithin(path, each))
  if (path === undefined || hiding === undefined || isWithin(path, directory)) return undefined
  return `${path} is missing in the fork: a command has a ${hiding} of its own; install the program elsewhere, or use --isolation none`
}

/** Returns the real path of a program on this machine. */
function findProgram(name: string, path: string): string | undefined {
  const directories = name.includes('/') ? [''] : path.split(delimiter)
  for (const directory of directories) {
    try {
      return realpathSync(resolve(directory, name))
    } catch {
      // It is in another directory, or in none.
    }
  }
  return undefined
}
