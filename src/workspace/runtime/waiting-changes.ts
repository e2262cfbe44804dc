import { existsSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isErrno, PRIVATE_FILE_MODE, TaggedDirectory } from '../../machine/index.ts'
import { removeTree } from '../session/index.ts'
import { isThere, type LeftFork, listRecordedDirectories, tryReadRecord } from './recover-left-forks.ts'
import type { VaultSessionRecord } from './session-record.ts'

/** File whose time is when a sweep first found that changes wait. */
const MARK = 'waiting'

/** Changes that a killed process left and that cannot be stored now. */
export interface WaitingChanges {
  /** Directory with the files. */
  readonly path: string
  /** Fork that gets them once they can be stored; absent if the record of the changes is damaged. */
  readonly fork?: string
  /** Directory of the fork, if it is missing. Otherwise there is another reason, such as a full disk. */
  readonly missing?: string
}

/** Lists changes whose directory is missing, and those with a damaged record. */
export function listWaitingChanges(home: string): WaitingChanges[] {
  return listLeftChanges(home).filter(isWaiting)
}

/** True if only a person can help; other changes are stored by the next command. */
function isWaiting({ fork, missing }: WaitingChanges): boolean {
  return fork === undefined || missing !== undefined
}

/** Lists all changes that killed processes left: some of their commands may be ending just now. */
function listLeftChanges(home: string): WaitingChanges[] {
  return listRecordedDirectories(home).flatMap((files): WaitingChanges[] => {
    const { path, isAbandoned } = files
    if (!isAbandoned) return []
    const record = tryReadRecord<LeftFork | VaultSessionRecord>(files)
    if (record === 'damaged') return [{ path }]
    if (record === undefined) return []
    const { fork } = record
    if ('vault' in record || isThere(record)) return [{ path, fork }]
    return [{ path, fork, missing: record.directory }]
  })
}

interface DatedChanges extends WaitingChanges {
  readonly until: Date
}

export interface WaitingSweep {
  /** Changes that were deleted. */
  readonly deletedChanges: readonly WaitingChanges[]
  /** Changes that stay, each with the time from which a sweep deletes it. */
  readonly waitingChanges: readonly DatedChanges[]
}

/**
 * Deletes changes that have been waiting for a time since a sweep first found them: so nothing is deleted that no
 * earlier sweep has reported, unless the time is 0.
 * @param unstored directories whose changes a recovery has just failed to store.
 */
export async function sweepWaitingChanges(
  home: string,
  keptMs: number,
  unstored: ReadonlySet<string>,
): Promise<WaitingSweep> {
  const [deletedChanges, waitingChanges]: [WaitingChanges[], DatedChanges[]] = [[], []]
  for (const waiting of listLeftChanges(home)) {
    if (!isWaiting(waiting) && !unstored.has(waiting.path)) continue
    const until = new Date(markWaiting(waiting.path).getTime() + keptMs)
    if (until.getTime() > Date.now()) waitingChanges.push({ ...waiting, until })
    else if (await remove(waiting.path)) deletedChanges.push(waiting)
  }
  return { deletedChanges, waitingChanges }
}

/**
 * Marks a directory as waiting, and returns the time since which it is marked: now, if the disk is full, or if another
 * process has taken the directory over.
 */
function markWaiting(directory: string): Date {
  const path = join(directory, MARK)
  try {
    if (!existsSync(path)) writeFileSync(path, '', { mode: PRIVATE_FILE_MODE })
    return statSync(path).mtime
  } catch (error) {
    if (isErrno(error, 'ENOSPC', 'EDQUOT', 'ENOENT')) return new Date()
    throw error
  }
}

/** False if another process is storing the changes just now. */
async function remove(path: string): Promise<boolean> {
  const files = TaggedDirectory.at(path).adopt()
  if (files === undefined) return false
  files.removeRecord()
  await removeTree(files.path)
  return true
}
