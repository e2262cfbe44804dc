import { hasEntries, isErrno, TaggedDirectory } from '../../machine/index.ts'
import type { CallContext } from '../../vfs/index.ts'
import { isSessionForkName } from '../link/index.ts'
import type { CommandSession, SessionFiles } from '../session/index.ts'
import type { ForkStart, VaultStart } from './execution-workspace.ts'
import type { LeftChanges, LeftFork, RecoveredFork } from './recover-left-forks.ts'
import type { StagedFile } from './session-mask.ts'

const NANOS_PER_MS = 1_000_000n

/** Parts of the record of any session. */
interface RecordedSession {
  readonly by: Pick<CallContext, 'caller' | 'trace'>
  readonly files: SessionFiles
  /** Files that it sees with placeholders; nothing is masked when absent. */
  readonly mask?: RecordedMask | undefined
  /** Name of the copies of home files that it changes. */
  readonly copies?: string | undefined
}

interface RecordedMask {
  readonly patterns: readonly string[]
  /** Scope of the placeholders. */
  readonly scope: string
  readonly staged: readonly StagedFile[]
}

/** A command in a fork of a directory, for the process that stores its changes if this one is killed. */
export interface ForkSessionRecord extends RecordedSession, LeftFork, Omit<ForkStart, 'fork' | 'directory'> {}

/** A command in a vault, for the process that stores its changes if this one is killed. */
export interface VaultSessionRecord extends RecordedSession, LeftChanges, VaultStart {
  /** Outcome of the recovery that stored the changes; absent before. */
  readonly stored?: RecoveredFork | undefined
}

export type SessionRecord = ForkSessionRecord | VaultSessionRecord

/** Parts of a session record that the session does not know itself. */
export interface RecordedStart extends Pick<RecordedSession, 'by' | 'mask' | 'copies'> {
  readonly start: ForkStart | VaultStart
  /** Start of the session, in nanoseconds since the epoch. */
  readonly since: bigint
}

/**
 * Records how the changes of a session are stored if this process is killed. Undefined on a full disk, and for a session
 * whose files do not show its changes.
 */
export function recordSession(session: CommandSession, recorded: RecordedStart): TaggedDirectory | undefined {
  const { directory, files } = session.describe()
  if (files === undefined) return undefined
  const tagged = TaggedDirectory.at(directory)
  try {
    tagged.writeRecord(createRecord(files, recorded))
    return tagged
  } catch (error) {
    // A command that only reads works on a full disk, too.
    if (isErrno(error, 'ENOSPC', 'EDQUOT')) return undefined
    throw error
  }
}

function createRecord(files: SessionFiles, { start, since, ...rest }: RecordedStart): SessionRecord {
  if ('vault' in start) return { ...start, fork: getForkName(start), files, ...rest }
  const wasEmpty = !hasEntries(start.directory)
  return { ...start, files, ...rest, since: Number(since / NANOS_PER_MS), wasEmpty }
}

function getForkName({ vault, copyOf = vault, newFork: { name, stem = copyOf } = {} }: VaultStart): string {
  return name === undefined || isSessionForkName(name) ? stem : name
}
