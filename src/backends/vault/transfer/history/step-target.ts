import { type FileTime, toFileTime } from '../../../../machine/index.ts'
import {
  type BlobStore,
  type ExtraRecords,
  type FileOperation,
  type OperationPlan,
  type Provenance,
  type StoredContent,
  storeBytes,
  storeStream,
  Upload,
  type VaultFiles,
  type VaultLog,
} from '../../../../store/index.ts'
import { ancestors, assertLinkTarget, type FileType } from '../../../../vfs/index.ts'
import { CommitWindow } from '../commit-window.ts'
import type { HistoryChange } from './history-steps.ts'

/** Bytes that a link counts in a commit window. */
const LINK_BYTES = 256

/** Applies the changes of one step to a vault. Directories are created and removed with their files. */
export class StepTarget {
  readonly #log: VaultLog
  readonly #blobs: BlobStore
  readonly #provenance: Provenance
  readonly #mtime: FileTime
  readonly #window = new CommitWindow()
  /** Directories from which a file was removed. */
  readonly #shrunkDirectories = new Set<string>()
  /** The number of journal rows that this step has written. */
  rows = 0

  constructor(log: VaultLog, blobs: BlobStore, provenance: Provenance, time: Date) {
    this.#log = log
    this.#blobs = blobs
    this.#provenance = provenance
    this.#mtime = toFileTime(BigInt(time.getTime()) * 1_000_000n)
  }

  async apply(change: HistoryChange): Promise<void> {
    switch (change.kind) {
      case 'remove':
        for (const directory of ancestors(change.path)) this.#shrunkDirectories.add(directory)
        this.#submit(() => createRemoval(change.path), 0)
        break
      case 'directory':
        this.#submit(() => ({ op: 'mkdir', path: change.path, parents: true }), 0)
        break
      case 'symlink':
        this.#clear(change.path)
        this.#link(change.path, change.target)
        break
      case 'file':
        this.#clear(change.path)
        await this.#write(change)
    }
    if (this.#window.isFull) await this.#window.drain()
  }

  /** Removes empty directories and waits until everything is committed. */
  async finish(): Promise<void> {
    const deepestFirst = [...this.#shrunkDirectories].sort((one, other) => other.length - one.length)
    for (const path of deepestFirst) {
      if (path !== '/') this.#submit((files) => (isEmpty(files, path) ? createRemoval(path) : null), 0)
      if (this.#window.isFull) await this.#window.drain()
    }
    await this.#window.drain()
  }

  /** Removes a directory that lost files, so that a file or link can replace it. */
  #clear(path: string): void {
    if (!this.#shrunkDirectories.has(path)) return
    this.#submit((files) => (findType(files, path) === 'directory' ? createRemoval(path) : null), 0)
  }

  async #write({ path, mode, content }: Extract<HistoryChange, { readonly kind: 'file' }>): Promise<void> {
    const write = (stored: StoredContent): FileOperation => {
      return { op: 'write', path, content: stored, parents: true, mode, mtime: this.#mtime }
    }
    if (content instanceof Uint8Array) {
      const stored = await this.#blobs.reader.run(() => storeBytes(content, this.#blobs))
      this.#submit(() => write(stored), content.length)
      return
    }
    await using upload = new Upload(this.#blobs)
    const stored = await storeStream(content, this.#blobs, upload)
    await this.#commit(() => write(stored), upload.extraRecords)
  }

  #link(path: string, target: string): void {
    assertLinkTarget(target)
    const symlink: FileOperation = { op: 'symlink', path, target }
    this.#submit(() => symlink, LINK_BYTES)
    this.#submit((files) => {
      const inode = files.findByPath(path)
      return inode === undefined ? null : { op: 'attributes', path, inode, mtime: this.#mtime }
    }, 0)
  }

  #submit(plan: OperationPlan, bytes: number): void {
    this.#window.add(this.#commit(plan), bytes)
  }

  async #commit(plan: OperationPlan, extraRecords?: ExtraRecords): Promise<void> {
    // After a lost race the plan runs again, so only its last result counts.
    let isRow = false
    const decideAndCount: OperationPlan = (files) => {
      const operation = plan(files)
      isRow = operation !== null
      return operation
    }
    await this.#log.submit(decideAndCount, this.#provenance, extraRecords)
    if (isRow) this.rows++
  }
}

function findType(files: VaultFiles, path: string): FileType | undefined {
  const number = files.findByPath(path)
  return number === undefined ? undefined : files.getInode(number).type
}

function createRemoval(path: string): FileOperation {
  return { op: 'remove', path, recursive: true }
}

function isEmpty(files: VaultFiles, path: string): boolean {
  const number = files.findByPath(path)
  if (number === undefined || findType(files, path) !== 'directory') return false
  for (const _ of files.listEntries(number)) return false
  return true
}
