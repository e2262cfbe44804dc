import { type FileTime, fileTime } from '../../../../machine/index.ts'
import {
  type Besides,
  type Blobs,
  type FileOperation,
  type Files,
  type Plan,
  type Provenance,
  type StoredContent,
  storeBytes,
  storeStream,
  Upload,
  type VaultLog,
} from '../../../../store/index.ts'
import { ancestors, assertLinkTarget, type FileType } from '../../../../vfs/index.ts'
import { CommitWindow } from '../commit-window.ts'
import type { HistoryChange } from './history.ts'

const LINK_BYTES = 256

/** Does the changes of one step to a vault. Directories come and go with what is in them. */
export class StepTarget {
  readonly #log: VaultLog
  readonly #blobs: Blobs
  readonly #by: Provenance
  readonly #mtime: FileTime
  readonly #window = new CommitWindow()
  /** Directories that something was removed from. */
  readonly #thinned = new Set<string>()
  /** How many rows of the journal it made. */
  rows = 0

  constructor(log: VaultLog, blobs: Blobs, by: Provenance, time: Date) {
    this.#log = log
    this.#blobs = blobs
    this.#by = by
    this.#mtime = fileTime(BigInt(time.getTime()) * 1_000_000n)
  }

  async apply(change: HistoryChange): Promise<void> {
    switch (change.kind) {
      case 'remove':
        for (const directory of ancestors(change.path)) this.#thinned.add(directory)
        this.#submit(() => ({ op: 'remove', path: change.path, recursive: true }), 0)
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

  /** Takes away directories that have become empty, and waits for everything to be committed. */
  async finish(): Promise<void> {
    const deepestFirst = [...this.#thinned].sort((one, other) => other.length - one.length)
    for (const path of deepestFirst) {
      if (path !== '/') this.#submit((files) => (isEmpty(files, path) ? removal(path) : null), 0)
      if (this.#window.isFull) await this.#window.drain()
    }
    await this.#window.drain()
  }

  /** A directory whose files are all gone makes way for something else. */
  #clear(path: string): void {
    if (!this.#thinned.has(path)) return
    this.#submit((files) => (typeAt(files, path) === 'directory' ? removal(path) : null), 0)
  }

  async #write({ path, mode, content }: Extract<HistoryChange, { readonly kind: 'file' }>): Promise<void> {
    const write = (stored: StoredContent): FileOperation => {
      return { op: 'write', path, content: stored, parents: true, mode, mtime: this.#mtime }
    }
    if (content instanceof Uint8Array) {
      const stored = await this.#blobs.reader.resolve(() => storeBytes(content, this.#blobs))
      this.#submit(() => write(stored), content.length)
      return
    }
    await using upload = new Upload(this.#blobs)
    const stored = await storeStream(content, this.#blobs, upload)
    await this.#commit(() => write(stored), upload.besides)
  }

  #link(path: string, target: string): void {
    assertLinkTarget(target)
    const made: FileOperation = { op: 'symlink', path, target }
    this.#submit(() => made, LINK_BYTES)
    this.#submit((files) => {
      const inode = files.find(path)
      return inode === undefined ? null : { op: 'attributes', path, inode, mtime: this.#mtime }
    }, 0)
  }

  #submit(plan: Plan, bytes: number): void {
    this.#window.add(this.#commit(plan), bytes)
  }

  async #commit(plan: Plan, besides?: Besides): Promise<void> {
    // Whoever loses a race is asked again: what it decided last is what is in the journal.
    let isRow = false
    const decided: Plan = (files) => {
      const operation = plan(files)
      isRow = operation !== null
      return operation
    }
    await this.#log.submit(decided, this.#by, besides)
    if (isRow) this.rows++
  }
}

function typeAt(files: Files, path: string): FileType | undefined {
  const number = files.find(path)
  return number === undefined ? undefined : files.inode(number).type
}

function removal(path: string): FileOperation {
  return { op: 'remove', path, recursive: true }
}

function isEmpty(files: Files, path: string): boolean {
  const number = files.find(path)
  if (number === undefined || typeAt(files, path) !== 'directory') return false
  for (const _ of files.entries(number)) return false
  return true
}
