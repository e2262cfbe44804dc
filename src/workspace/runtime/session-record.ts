import { hasEntries, isErrno, TaggedDirectory } from '../../machine/index.ts'
import type { CallContext } from '../../vfs/index.ts'
import type { CommandSession } from '../session/index.ts'
import type { ForkStart } from './execution-workspace.ts'
import type { LeftFork } from './recover-left-forks.ts'
import type { StagedFile } from './session-mask.ts'

const NANOS_PER_MS = 1_000_000n

/** A command in a fork of a directory, for the process that stores its changes if this one is killed. */
export interface SessionRecord extends LeftFork, Omit<ForkStart, 'fork' | 'directory'> {
  readonly by: Pick<CallContext, 'caller' | 'trace'>
  /** Source of the overlay in the list of mounts. */
  readonly source: string
  /** Patterns of the files that it sees with placeholders, and those files; nothing is masked when absent. */
  readonly mask?: { readonly patterns: readonly string[]; readonly staged: readonly StagedFile[] } | undefined
  /** Name of the copies of home files that it changes. */
  readonly copies?: string | undefined
}

/** Parts of a session record that the session does not know itself. */
export interface RecordedStart extends Pick<SessionRecord, 'by' | 'mask' | 'copies'> {
  readonly start: ForkStart
  /** Start of the session, in nanoseconds since the epoch. */
  readonly since: bigint
}

/**
 * Records how the changes of a session are stored if this process is killed. Undefined on a full disk, and for a session
 * whose files do not show its changes: only an overlay keeps them apart.
 */
export function recordSession(
  session: CommandSession,
  { start, since, ...rest }: RecordedStart,
): TaggedDirectory | undefined {
  const { directory, overlay } = session.describe()
  if (overlay === undefined) return undefined
  const files = TaggedDirectory.at(directory)
  const record: SessionRecord = {
    ...start,
    ...overlay,
    ...rest,
    since: Number(since / NANOS_PER_MS),
    wasEmpty: !hasEntries(start.directory),
  }
  try {
    files.writeRecord(record)
    return files
  } catch (error) {
    // A command that only reads works on a full disk, too.
    if (isErrno(error, 'ENOSPC', 'EDQUOT')) return undefined
    throw error
  }
}
