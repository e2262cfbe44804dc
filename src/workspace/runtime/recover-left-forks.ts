import { existsSync } from 'node:fs'
import { hasEntries, TaggedDirectory } from '../../machine/index.ts'
import { removeTree } from '../session/index.ts'

/** An overlay over the directory of a fork, for the process that stores its changes if this one is killed. */
export interface LeftFork {
  readonly fork: string
  /** The directory that it is a fork of. */
  readonly directory: string
  /** Moment up to which the fork knows the directory, in milliseconds since the epoch. */
  readonly since: number
  readonly privilege: 'root' | 'user'
  /** True if the directory had no entries. One that has none any more is not there: its disk is not mounted. */
  readonly wasEmpty: boolean
}

/** A fork whose process was killed: it has the changes now, or they stay where they are for the given reason. */
export interface RecoveredFork {
  readonly fork: string
  readonly changes: number
  readonly problem?: string
}

/** Stores what a killed process left, and returns the outcome; `later` if that is not possible yet. */
type StoreLeft<Fields> = (files: TaggedDirectory, record: Fields) => Promise<RecoveredFork | 'later'>

/**
 * Takes over the directories that killed processes left, and removes each whose changes could be stored. The others wait
 * for a later command.
 */
export async function recoverLeftForks<Fields extends LeftFork>(
  parent: string,
  store: StoreLeft<Fields>,
): Promise<RecoveredFork[]> {
  const recovered: RecoveredFork[] = []
  for (const abandoned of TaggedDirectory.list(parent)) {
    const files = abandoned.isAbandoned ? abandoned.adopt() : undefined
    const outcome = files && (await recoverLeftFork(files, abandoned, store))
    if (outcome !== undefined) recovered.push(outcome)
  }
  return recovered
}

async function recoverLeftFork<Fields extends LeftFork>(
  files: TaggedDirectory,
  abandoned: TaggedDirectory,
  store: StoreLeft<Fields>,
): Promise<RecoveredFork | undefined> {
  const record = files.readRecord<Fields>()
  if (record === undefined) {
    await removeTree(files.path)
    return undefined
  }
  try {
    if (record === 'damaged') throw new Error(`${abandoned.path} has no readable record`)
    const outcome = await store(files, record)
    if (outcome === 'later') {
      files.giveBack(abandoned)
      return undefined
    }
    await removeTree(files.path)
    return outcome
  } catch (error) {
    files.giveBack(abandoned)
    const problem = error instanceof Error ? error.message : String(error)
    return { fork: record === 'damaged' ? 'a fork' : record.fork, changes: 0, problem }
  }
}

/** False if the directory of a fork is missing, such as one on a disk that is not mounted yet. */
export function isThere({ directory, wasEmpty }: LeftFork): boolean {
  return existsSync(directory) && (wasEmpty || hasEntries(directory))
}
