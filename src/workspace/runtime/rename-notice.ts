import type { CommandSession, RunOutcome, RunSpec } from '../session/index.ts'

/** Messages of the C library and of Node for EXDEV. */
const EXDEV_MESSAGES: readonly string[] = ['Invalid cross-device link', 'EXDEV: cross-device link']
const NOTICE =
  'coppice: a fork cannot rename a directory of the project in one step (EXDEV); use mv, which copies it, or --session dir\n'

/**
 * Adds the reason to the errors of a command that failed to rename a directory: the kernel's overlay does not rename
 * those of its base. Programs such as `mv` copy them instead; `git mv` gives up.
 */
export function addRenameNotice(
  outcome: RunOutcome,
  { kind }: Pick<CommandSession, 'kind'>,
  onOutput: RunSpec['onOutput'],
): RunOutcome {
  if (kind !== 'overlay' || outcome.exitCode === 0) return outcome
  const stderr = Buffer.from(outcome.stderr)
  if (!EXDEV_MESSAGES.some((message) => stderr.includes(message))) return outcome
  const notice = Buffer.from(NOTICE)
  onOutput?.('stderr', notice)
  return { ...outcome, stderr: Buffer.concat([stderr, notice]) }
}
