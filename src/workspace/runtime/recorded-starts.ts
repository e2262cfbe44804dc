import { listRecordedDirectories, tryReadRecord } from './recover-left-forks.ts'

/** Parts of records by name: a sweep keeps what they name until the changes are stored. */
interface RecordedNames {
  readonly point?: string
  readonly live?: string
  readonly copies?: string
}

/** Returns the forks of processes with which changes are merged later. */
export function listRecordedPoints(home: string): ReadonlySet<string> {
  return new Set(
    readNames(home).flatMap(({ point, live }) => [point, live].filter((name) => name !== undefined)),
  )
}

/** Returns the names of copies of home files that commands have changed and no fork has yet. */
export function listRecordedCopies(home: string): ReadonlySet<string> {
  return new Set(readNames(home).flatMap(({ copies }) => copies ?? []))
}

/**
 * Also those of living processes: one of them may be storing the changes of a killed one. It renames the directory for
 * that, so a pass that meets such a change may have missed a record, and is followed by another.
 */
function readNames(home: string): RecordedNames[] {
  const found: RecordedNames[] = []
  for (let isComplete = false; !isComplete; ) {
    isComplete = true
    for (const files of listRecordedDirectories(home)) {
      const before = files.findChangeTime()
      const record = tryReadRecord<RecordedNames>(files)
      if (typeof record === 'object') found.push(record)
      // It may have another name now, or have had one meanwhile: a rename sets the time.
      else if (before === undefined || before !== files.findChangeTime()) isComplete = false
    }
  }
  return found
}
