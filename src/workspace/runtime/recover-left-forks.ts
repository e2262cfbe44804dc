import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { hasEntries, isErrno, TaggedDirectory } from '../../machine/index.ts'
import { removeTree } from '../session/index.ts'

/** Changes of a fork that are in files, for the process that stores them if this one is killed. */
export interface LeftChanges {
  /** The fork, or the vault of which it will be one. */
  readonly fork: string
}

/** Changes of a fork of a directory. */
export interface LeftFork extends LeftChanges {
  /** The directory that it is a fork of. */
  readonly directory: string
  /** Moment up to which the fork knows the directory, in milliseconds since the epoch. */
  readonly since: number
  /** True if the directory had no entries. One that has none any more is not there: its disk is not mounted. */
  readonly wasEmpty: boolean
}

/** A fork whose process was killed: it has the changes now, or they stay where they are for the given reason. */
export interface RecoveredFork {
  readonly fork: string
  readonly changes: number
  /** Changed paths that a fork cannot keep. */
  readonly leftOut?: readonly string[]
  /** Checkpoint of the fork with versions of others that the command changed in the same places. */
  readonly checkpoint?: string | undefined
  readonly problem?: string
  /** Directory in which the changes stay after a problem. */
  readonly path?: string
}

/** Stores what a killed process left, and returns the outcome; `later` if that is not possible yet. */
type StoreLeft<Fields> = (files: TaggedDirectory, record: Fields) => Promise<RecoveredFork | 'later'>

/**
 * Takes over the directories that killed processes left, and removes each whose changes could be stored. The others wait
 * for a later command.
 */
export async function recoverLeftForks<Fields extends LeftChanges>(
  parent: string,
  store: StoreLeft<Fields>,
): Promise<RecoveredFork[]> {
  const recovered: RecoveredFork[] = []
  for (const abandoned of TaggedDirectory.list(parent).filter(({ isAbandoned }) => isAbandoned)) {
    const outcome = await recoverLeftFork(abandoned, store)
    if (outcome !== undefined) recovered.push(outcome)
  }
  return recovered
}

/** Never throws: the command that came upon these files may have nothing to do with them. */
async function recoverLeftFork<Fields extends LeftChanges>(
  abandoned: TaggedDirectory,
  store: StoreLeft<Fields>,
): Promise<RecoveredFork | undefined> {
  let fork = 'a fork'
  let files: TaggedDirectory | undefined
  try {
    files = abandoned.adopt()
    const record = files?.readRecord<Fields>()
    if (files === undefined) return undefined
    if (record === 'damaged') throw new Error(`${abandoned.path} has no readable record`)
    if (record === undefined) {
      await removeTree(files.path)
      return undefined
    }
    fork = record.fork
    const outcome = await store(files, record)
    if (outcome === 'later') {
      files.giveBack(abandoned)
      return undefined
    }
    // Its files are removed one by one; with a record, what is left of them would count as all changes.
    files.removeRecord()
    await removeTree(files.path)
    return outcome
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error)
    tryGiveBack(files, abandoned)
    return { fork, changes: 0, problem, path: abandoned.path }
  }
}

function tryGiveBack(files: TaggedDirectory | undefined, abandoned: TaggedDirectory): void {
  try {
    files?.giveBack(abandoned)
  } catch {
    // It stays with this process, which ends.
  }
}

/** Lists the directories of the sessions and mounts of a home: of those that run, and those that killed processes left. */
export function listRecordedDirectories(home: string): TaggedDirectory[] {
  return ['sessions', 'mounts'].flatMap((name) => TaggedDirectory.list(join(home, name)))
}

/** Reads the record of a directory; undefined also for that of another user, who stores it. */
export function tryReadRecord<Fields>(files: TaggedDirectory): Fields | 'damaged' | undefined {
  try {
    return files.readRecord<Fields>()
  } catch (error) {
    if (isErrno(error, 'EACCES')) return undefined
    throw error
  }
}

/** False if the directory of a fork is missing, such as one on a disk that is not mounted yet. */
export function isThere({ directory, wasEmpty }: LeftFork): boolean {
  return existsSync(directory) && (wasEmpty || hasEntries(directory))
}
