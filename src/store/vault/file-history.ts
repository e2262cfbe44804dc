import { isWithin, VfsError } from '../../vfs/index.ts'
import type { FileOperation, ReplacedVersion, StoredContent } from '../files/operation.ts'
import type { VaultFiles } from '../files/vault-files.ts'
import { type BlobRef, CHUNK_BYTES } from '../tree/tree-values.ts'
import { getStoredContent } from './file-content.ts'
import type { Journal, NumberedJournalEntry } from './journal.ts'

/** A version of a file: the journal row that made it, and the row's operations on the file. */
export interface JournaledVersion {
  readonly entry: NumberedJournalEntry
  /** Operations of the row on this file in order; mostly one. */
  readonly operations: readonly ContentOperation[]
  /** Last of the operations. */
  readonly operation: ContentOperation
  readonly size: number
  /** Version that it replaced. */
  readonly before: number | null
  /** Row before which this file was at the requested path. */
  readonly end: number
}

/** An earlier file at the path, by its last version. */
interface EarlierFile {
  readonly version: number
  readonly end: number
}

type ContentOperation =
  | Extract<FileOperation, { readonly op: 'write' | 'revert' | 'extend' | 'patch' }>
  | (Extract<FileOperation, { readonly op: 'create' }> & { readonly content: StoredContent })

/** An operation of a journal row on a file, and the version it replaced. */
interface OperationStep {
  readonly operation: FileOperation
  readonly before: number | null
}

type ContentStep = OperationStep & { readonly operation: ContentOperation }

/**
 * The history of one file: each version names the one it replaced. Synchronous and restartable: each call reads a few
 * rows.
 */
export class FileHistory {
  readonly #journal: Journal
  readonly #files: VaultFiles
  readonly #path: string
  readonly #readable = new Map<number, boolean>()
  /** Inodes of earlier files at the path, by the row before which they were there. */
  readonly #inodes = new Map<number, number | undefined>()
  /** Last resolved path: walking from version to version reads no row twice. */
  #lastPath: { readonly end: number; readonly seq: number; readonly path: string } | undefined
  /** True if no row was ever pruned. */
  #isComplete: boolean | undefined
  readonly newest: number

  /** @param newest last row the files include. */
  constructor(journal: Journal, files: VaultFiles, path: string, newest: number) {
    this.newest = newest
    this.#journal = journal
    this.#files = files
    this.#path = path
  }

  /** Returns the current version; undefined if there is no file. EISDIR for anything but a file. */
  findCurrentVersion(): number | undefined {
    const number = this.#files.findByPath(this.#files.resolveLinks(this.#path, true, 'versions'))
    if (number === undefined) return undefined
    const { type, version } = this.#files.getInode(number)
    if (type !== 'file')
      throw new VfsError('EISDIR', this.#path, { op: 'versions', detail: `it is a ${type}` })
    return version
  }

  /** Returns a version of the file at the path before a row; undefined if it was pruned. */
  findVersion(seq: number, end: number = this.newest + 1): JournaledVersion | undefined {
    const entry = this.#journal.findEntry(seq)
    if (entry === undefined) return undefined
    const steps = listSteps(entry.operation, entry.before)
    const own = steps.length === 1 ? steps.filter(isContentStep) : this.#selectOwnSteps(steps, seq, end)
    const [first, last] = [own[0], own.at(-1)]
    if (first === undefined || last === undefined) return undefined
    const { operation } = last
    const operations = own.map((step) => step.operation)
    // A file that the row itself created replaced nothing.
    const before = first.before === seq ? null : first.before
    return { entry, operations, operation, size: getContentSize(operation), before, end }
  }

  /** Selects the operations of a row on this file: backwards from its later path, through every rename. */
  #selectOwnSteps(steps: readonly OperationStep[], seq: number, end: number): ContentStep[] {
    const own: ContentStep[] = []
    let number = this.#findInode(end)
    let path = this.#getPathAt(seq, end)
    for (const step of steps.toReversed()) {
      const { operation } = step
      // The journal names a hard-linked file by one of its names.
      const inode = 'inode' in operation ? operation.inode : undefined
      if (isContentStep(step) && (operation.path === path || (inode !== undefined && inode === number))) {
        own.push(step)
        number ??= inode
      }
      path = getPathBefore(path, operation)
    }
    this.#inodes.set(end, number)
    return own.reverse()
  }

  /** Returns the inode of the file at the path before a row, if known; inode numbers are never reused. */
  #findInode(end: number): number | undefined {
    return end > this.newest ? this.#files.findByPath(this.#path) : this.#inodes.get(end)
  }

  /** Returns the file's path right after a row: backwards from another row, through every rename. */
  #getPathAt(seq: number, end: number): string {
    const last = this.#lastPath
    const start = last?.end === end && last.seq >= seq ? last : { seq: end - 1, path: this.#path }
    const path = this.#tracePathBack(start.path, start.seq, seq)
    this.#lastPath = { end, seq, path }
    return path
  }

  /** Follows a path back from after one row to after an earlier one. */
  #tracePathBack(from: string, seq: number, to: number): string {
    let path = from
    for (let next = seq + 1; next > to + 1; ) {
      const entries = this.#journal.readBefore(next, next - to - 1)
      for (const entry of entries) {
        if (entry.seq <= to) return path
        for (const { operation } of listSteps(entry.operation, undefined).toReversed())
          path = getPathBefore(path, operation)
      }
      const oldest = entries.at(-1)
      if (oldest === undefined) return path
      next = oldest.seq
    }
    return path
  }

  /**
   * Searches older rows for an earlier file at the path, some rows at a time; `seq` is where to continue, 0 at the
   * end. Skips files whose last version is in `seenVersions`. Stops at a restore: what it undid is not part of the
   * later history.
   */
  findEarlierFile(
    seq: number,
    seenVersions: ReadonlySet<number>,
  ): {
    readonly file?: EarlierFile
    readonly seq: number
    readonly isRestore?: boolean
  } {
    const entries = this.#journal.readBefore(seq)
    for (const { seq: row, operation, before } of entries) {
      if (operation.op === 'restore') return { seq: row, isRestore: true }
      for (const step of listSteps(operation, before).toReversed()) {
        const file = this.#findEarlierFileIn(step, row)
        if (file !== undefined && !seenVersions.has(file.version)) return { file, seq: row }
      }
    }
    return { seq: entries.at(-1)?.seq ?? 0 }
  }

  #findEarlierFileIn({ operation, before }: OperationStep, seq: number): EarlierFile | undefined {
    if (isContentOperation(operation) && operation.path === this.#path) return { version: seq, end: seq + 1 }
    // It may have been renamed here and never written here. A file that lived for one row only is skipped.
    const isEnd = isRemoval(operation)
      ? operation.path === this.#path
      : findReplacedPath(operation) === this.#path
    return isEnd && before !== null && before !== seq ? { version: before, end: seq } : undefined
  }

  /** Reports whether the content of a version is readable: rows it builds on may have been pruned. */
  isReadable(version: JournaledVersion): boolean {
    this.#isComplete ??= this.#journal.findEntry(1) !== undefined
    if (this.#isComplete) return true
    const undecided: number[] = []
    for (let current = version; ; ) {
      const { seq } = current.entry
      const isReadable = this.#readable.get(seq) ?? this.#isReadableByItself(current)
      undecided.push(seq)
      const earlier = current.before === null ? undefined : this.findVersion(current.before, current.end)
      if (isReadable === undefined && earlier !== undefined) {
        current = earlier
        continue
      }
      for (const row of undecided) this.#readable.set(row, isReadable ?? false)
      return isReadable ?? false
    }
  }

  /** Reports whether a version is readable without older rows; undefined if they are needed. */
  #isReadableByItself({ entry, operations, before, end }: JournaledVersion): boolean | undefined {
    if (
      operations.some((operation) => findWholeContent(operation) !== undefined) ||
      entry.seq === this.#findInodeVersion()
    )
      return true
    return before === null || this.#isEmptyAt(before, end) ? true : undefined
  }

  /** Reports whether a row created the file empty. */
  #isEmptyAt(seq: number, end: number): boolean {
    return this.#journal.findEntry(seq) !== undefined && this.findVersion(seq, end) === undefined
  }

  /** Returns the version of the inode at the path now. */
  #findInodeVersion(): number | undefined {
    const number = this.#files.findByPath(this.#path)
    return number === undefined ? undefined : this.#files.findInode(number)?.version
  }

  /** Returns the content of a version. Throws EIO if part of it was pruned. */
  getContent(version: JournaledVersion): StoredContent {
    const number = this.#files.findByPath(this.#path)
    if (number !== undefined && this.#findInodeVersion() === version.entry.seq)
      return getStoredContent(this.#files, number)
    const later: ContentOperation[] = []
    for (let current = version; ; ) {
      for (const operation of current.operations.toReversed()) {
        const whole = findWholeContent(operation)
        if (whole !== undefined) return later.reduceRight(applyContentOperation, whole)
        later.push(operation)
      }
      const { before, end } = current
      if (before === null || this.#isEmptyAt(before, end))
        return later.reduceRight(applyContentOperation, { size: 0, inline: '' })
      const earlier = this.findVersion(before, end)
      if (earlier === undefined) {
        const detail = `version ${version.entry.seq} needs an older version that was pruned`
        throw new VfsError('EIO', this.#path, { op: 'readVersion', detail })
      }
      current = earlier
    }
  }
}

/** Returns the content of an operation that replaces the whole file. */
function findWholeContent(operation: ContentOperation): StoredContent | undefined {
  if ('content' in operation) return operation.content
  if (operation.op === 'patch' && operation.inline !== undefined)
    return { size: operation.size, inline: operation.inline }
  return undefined
}

/** Applies a change of some chunks to content. */
function applyContentOperation(
  { size, chunks = [] }: StoredContent,
  operation: ContentOperation,
): StoredContent {
  if (operation.op === 'extend') {
    return { size: operation.size, chunks: [...chunks.slice(0, operation.kept), ...operation.chunks] }
  }
  if (operation.op !== 'patch') return { size, chunks }
  const hole = { blob: 0, size: 0, crc: 0 }
  const count = Math.ceil(operation.size / CHUNK_BYTES)
  const next: BlobRef[] = Array.from({ length: count }, (_, index) => chunks[index] ?? hole)
  for (const [index, chunk] of operation.chunks) next[index] = chunk ?? hole
  return { size: operation.size, chunks: next }
}

/** Lists the operations of a row, those of merges and batches one by one. */
function listSteps(operation: FileOperation, before: ReplacedVersion | undefined): OperationStep[] {
  if (operation.op !== 'merge' && operation.op !== 'batch') {
    return [{ operation, before: typeof before === 'number' ? before : null }]
  }
  const each: readonly ReplacedVersion[] = typeof before === 'object' && before !== null ? before : []
  return operation.operations.flatMap((step, index) => listSteps(step, each[index]))
}

/** Returns a file's path before an operation, from its path afterwards. */
function getPathBefore(path: string, operation: FileOperation): string {
  if (operation.op === 'link') return path === operation.path ? (operation.from ?? path) : path
  if (operation.op !== 'rename' && operation.op !== 'move') return path
  if (isWithin(path, operation.to)) return operation.path + path.slice(operation.to.length)
  const isExchange = operation.op === 'move' && operation.mode === 'exchange'
  return isExchange && isWithin(path, operation.path)
    ? operation.to + path.slice(operation.path.length)
    : path
}

function isContentStep(step: OperationStep): step is ContentStep {
  return isContentOperation(step.operation)
}

function isContentOperation(operation: FileOperation): operation is ContentOperation {
  const { op } = operation
  if (op === 'create') return operation.content !== undefined
  return op === 'write' || op === 'revert' || op === 'extend' || op === 'patch'
}

/** Returns the path where a rename replaced a file. */
function findReplacedPath(operation: FileOperation): string | undefined {
  return operation.op === 'rename' || operation.op === 'move' ? operation.to : undefined
}

function isRemoval({ op }: FileOperation): boolean {
  return op === 'remove' || op === 'unlink'
}

function getContentSize(operation: ContentOperation): number {
  return 'content' in operation ? operation.content.size : operation.size
}
