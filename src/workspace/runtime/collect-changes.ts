import { basename } from 'node:path'
import type { TaggedDirectory } from '../../machine/index.ts'
import { isVfsError, VfsError } from '../../vfs/index.ts'
import type { MaskContent } from '../link/index.ts'
import type { ExecutionRequest } from '../policy/index.ts'
import type { CommandSession } from '../session/index.ts'
import { collapseChangedFiles, listSetuidFiles } from './changed-files.ts'
import type { ExecuteOptions } from './execute-options.ts'
import type { ResultParts } from './execution-outcome.ts'
import type { StartedSession } from './execution-state.ts'
import type { CommandChanges, ExecutionWorkspace } from './execution-workspace.ts'
import { filterKept, listLeftOut } from './kept-changes.ts'
import { MaskedSession } from './masked-session.ts'
import { recordSession, type SessionRecord } from './session-record.ts'

/** A command that has ended in its session. */
export interface EndedCommand extends StartedSession {
  readonly request: ExecutionRequest
  readonly workspace: ExecutionWorkspace
  /** Record by which another process stores the changes if this one does not; undefined if none can. */
  readonly left: TaggedDirectory | undefined
  /** True if more commands may follow in the session. */
  readonly continues: boolean
}

/**
 * Stores the changes of a command in its workspace. If that fails, the files of the session are set aside for the next
 * process.
 */
export async function collectChanges(
  { request, workspace, session, since, left, continues }: EndedCommand,
  { by = {}, onChanges, onStored }: ExecuteOptions,
): Promise<Pick<ResultParts, 'changed' | 'checkpoint' | 'setuid' | 'leftOut'>> {
  const collect = async (): Promise<{ readonly own: CommandChanges; readonly leftOut: string[] }> => {
    const all = await session.changes()
    const changes = filterKept(all, workspace)
    const own = await workspace.collect({
      changes,
      since,
      by,
      mask: getMaskContent(session),
      isCheckpointWanted: request.checkpoint === 'always',
      continues,
      onCreated: () => recordCreatedFork(workspace, left),
      onStored: (fork) => {
        onStored?.(fork)
        left?.removeRecord()
      },
    })
    return { own, leftOut: listLeftOut(all, changes) }
  }
  const { own, leftOut } = await collect().catch((error: unknown) => {
    const isSetAside = !continues && setAside(workspace, left)
    throw createNotKeptError(request, error, isSetAside)
  })
  await using _trees = own
  await onChanges?.(own)
  return {
    changed: await collapseChangedFiles(own, by),
    checkpoint: own.checkpoint,
    setuid: listSetuidFiles(own.changes),
    leftOut,
  }
}

/** Records that the workspace has created a fork for the changes, which gets them also after a kill. */
function recordCreatedFork(workspace: ExecutionWorkspace, left: TaggedDirectory | undefined): void {
  const record = left?.readRecord<SessionRecord>()
  if (typeof record === 'object') left?.writeRecord({ ...record, ...workspace.describeStart?.() })
}

/** Takes the files of a session from its end. False if that fails, or their changes are stored. */
function setAside(workspace: ExecutionWorkspace, left: TaggedDirectory | undefined): boolean {
  try {
    if (left?.hasRecord !== true || left.adopt() === undefined) return false
    workspace.keepStart?.()
    return true
  } catch {
    // The first error is the one to report.
    return false
  }
}

/** Records what another process needs to store the changes if this one is killed; undefined if none can. */
export function recordStart(
  { session, since }: StartedSession,
  workspace: ExecutionWorkspace,
  { by = {}, mask, copies, join }: ExecuteOptions,
): TaggedDirectory | undefined {
  const start = workspace.describeStart?.()
  if (start === undefined || join !== undefined) return undefined
  return recordSession(session, {
    start,
    since,
    by,
    ...(mask !== undefined &&
      session instanceof MaskedSession && {
        mask: {
          patterns: mask.files.patterns,
          scope: session.mask.scope,
          staged: session.mask.listStagedFiles(),
        },
      }),
    ...(copies !== undefined && { copies: basename(copies) }),
  })
}

function getMaskContent(session: CommandSession): MaskContent | undefined {
  return session instanceof MaskedSession ? (...file) => session.mask.maskContent(...file) : undefined
}

/**
 * Creates the error for changes that could not be kept. The command has run, so the message says what becomes of them.
 */
function createNotKeptError({ vault }: ExecutionRequest, error: unknown, isSetAside: boolean): unknown {
  if (!isVfsError(error)) return error
  const next = isSetAside ? '; a later coppice command tries again' : ''
  const detail = `the changes of the command could not be kept: ${error.detail ?? error.message}${next}`
  return new VfsError(error.code, vault, { op: 'exec', detail, cause: error })
}
