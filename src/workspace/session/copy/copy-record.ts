import { constants, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isErrno, PRIVATE_FILE_MODE, readFileIfPresent } from '../../../machine/index.ts'
import type { ComparedStats } from '../entries/entry-stats.ts'
import type { UnlockedTree } from '../entries/locked-entries.ts'
import type { DirCopy } from './dir-changes.ts'
import type { TreeStats } from './dir-copy.ts'

const RECORD = 'copied.json'

/** Fields of an entry in the order of a record; numbers of any size are text. */
type RecordedEntry = readonly [
  name: string,
  ino: string,
  mode: number,
  uid: number,
  gid: number,
  rdev: string,
  size: string,
  mtimeNs: string,
  ctimeNs: string,
]

/** A copy as it was before the first command. */
interface CopyRecord {
  readonly hidden: readonly string[]
  readonly directories: readonly (readonly [path: string, entries: readonly RecordedEntry[]])[]
}

/** Returns the path of the copy in the directory of its session. */
export function findCopyRoot(directory: string): string {
  return join(directory, 'tree')
}

export function findUnlockedTree(directory: string): UnlockedTree {
  return { root: findCopyRoot(directory), journal: join(directory, 'unlocked.jsonl') }
}

/**
 * Records a copy, for the process that reads its changes if this one is killed: later nothing else shows what a command
 * has removed. False on a full disk.
 */
export function writeCopyRecord(directory: string, { before, hidden }: DirCopy): boolean {
  const directories = [...before].map(
    ([path, entries]) => [path, [...entries].map(([name, stats]) => toRecordedEntry(name, stats))] as const,
  )
  const record: CopyRecord = { hidden, directories }
  try {
    writeFileSync(join(directory, RECORD), JSON.stringify(record), { mode: PRIVATE_FILE_MODE })
    return true
  } catch (error) {
    // A command that only reads works on a full disk, too.
    if (isErrno(error, 'ENOSPC', 'EDQUOT')) return false
    throw error
  }
}

/**
 * Reads the copy that a killed process left.
 * @param lower the directory that was copied.
 */
export function readCopyRecord(directory: string, lower: string): DirCopy {
  const text = readFileIfPresent(join(directory, RECORD))
  if (text === undefined) throw new Error(`${directory} has no record of the copied files`)
  const { hidden, directories }: CopyRecord = JSON.parse(text)
  const before: TreeStats = new Map(
    directories.map(([path, entries]) => [path, new Map(entries.map(parseRecordedEntry))]),
  )
  return { root: findCopyRoot(directory), lower, before, hidden }
}

function toRecordedEntry(name: string, stats: ComparedStats): RecordedEntry {
  const { ino, mode, uid, gid, rdev, size, mtimeNs, ctimeNs } = stats
  const owner = [Number(mode), Number(uid), Number(gid)] as const
  return [name, `${ino}`, ...owner, `${rdev}`, `${size}`, `${mtimeNs}`, `${ctimeNs}`]
}

function parseRecordedEntry([name, ino, mode, uid, gid, rdev, size, mtimeNs, ctimeNs]: RecordedEntry): [
  string,
  ComparedStats,
] {
  const hasType = (type: number) => (mode & constants.S_IFMT) === type
  const stats: ComparedStats = {
    ino: BigInt(ino),
    mode: BigInt(mode),
    uid: BigInt(uid),
    gid: BigInt(gid),
    rdev: BigInt(rdev),
    size: BigInt(size),
    mtimeNs: BigInt(mtimeNs),
    ctimeNs: BigInt(ctimeNs),
    isFile: () => hasType(constants.S_IFREG),
    isDirectory: () => hasType(constants.S_IFDIR),
    isSymbolicLink: () => hasType(constants.S_IFLNK),
  }
  return [name, stats]
}
