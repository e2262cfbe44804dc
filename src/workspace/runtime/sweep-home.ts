import { join } from 'node:path'
import { Checkouts } from '../checkout/index.ts'
import { sweepForkPoints, sweepMirrors } from '../link/index.ts'
import { sweepMergeStates } from '../merge/index.ts'
import { sweepSessions } from '../session/index.ts'
import { listRecordedPoints } from './recorded-starts.ts'
import { recoverMountedForks } from './recover-mounted-forks.ts'
import { recoverSessions } from './recover-sessions.ts'
import { sweepWaitingChanges, type WaitingSweep } from './waiting-changes.ts'
import type { WorkspaceHome } from './workspace-home.ts'

const KEPT_MS = 30 * 24 * 3_600_000

/** Number of leftovers removed, by kind. */
export interface SweepReport extends WaitingSweep {
  /** Checkouts of deleted vaults, incomplete ones, and those beyond the limits. */
  readonly checkouts: number
  /** Vaults that `vault list` does not list. */
  readonly hiddenVaults: number
  /** Directories of sessions whose process has ended. */
  readonly sessions: number
}

/**
 * Removes leftovers of commands in a home: checkouts, mirrors and merge states of deleted vaults, and sessions and forks
 * of dead processes. Keeps everything that a living process uses.
 * @param path the directory of the home.
 * @param keptMs time for which changes of killed commands that cannot be stored wait, since a sweep first found them.
 */
export async function sweepHome(
  home: WorkspaceHome,
  path: string,
  keptMs: number = KEPT_MS,
): Promise<SweepReport> {
  const waiting = await sweepWaitingChanges(path, keptMs, await listUnstored(home, path))
  const sessions = await sweepSessions(join(path, 'sessions'))
  const forks = await sweepForkPoints(home, listRecordedPoints(path))
  const mirrors = await sweepMirrors(home)
  const merges = await sweepMergeStates(home)
  const { slots, vaults } = await new Checkouts(home, join(path, 'checkouts')).sweep()
  return { checkouts: slots, hiddenVaults: forks + mirrors + merges + vaults, sessions, ...waiting }
}

/** Lists the directories of changes that killed processes left, and that cannot be stored now. */
async function listUnstored(home: WorkspaceHome, path: string): Promise<ReadonlySet<string>> {
  const recovered = [
    ...(await recoverSessions(home, path)),
    ...(await recoverMountedForks(home, join(path, 'mounts'))),
  ]
  return new Set(recovered.flatMap(({ path: unstored }) => unstored ?? []))
}
