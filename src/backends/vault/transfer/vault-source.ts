import {
  type BlobRef,
  type BlobStore,
  type Checkpoint,
  chain,
  type Hold,
  type Inode,
  type MaybePromise,
  readContent,
  type StoreHome,
  type VaultFiles,
  type VaultLog,
} from '../../../store/index.ts'
import { VfsError } from '../../../vfs/index.ts'

/** Number of directory entries read at once. */
const ENTRIES_PER_PAGE = 256
const PART_BYTES = 1024 * 1024

/** A directory entry with its inode. */
export interface SourceEntry {
  readonly name: string
  readonly number: number
  readonly inode: Inode
}

/** An immutable tree of a vault. Nothing in it is collected until it is disposed of. */
export class VaultSource implements AsyncDisposable {
  readonly log: VaultLog
  readonly root: number
  readonly checkpoint: Checkpoint | undefined
  readonly files: VaultFiles
  readonly #blobs: BlobStore
  readonly #holds: Hold[] = []

  private constructor(parts: Pick<VaultSource, 'log' | 'root' | 'checkpoint' | 'files'>, blobs: BlobStore) {
    this.log = parts.log
    this.root = parts.root
    this.checkpoint = parts.checkpoint
    this.files = parts.files
    this.#blobs = blobs
    this.#holds.push(blobs.reader.session.hold(parts.files.tree))
  }

  /** Opens a vault at a checkpoint or in its current state. ENOENT. */
  static async open(home: StoreHome, vault: string, at: string | undefined): Promise<VaultSource> {
    const log = await home.openVault(vault)
    await home.session.beginRead()
    const checkpoint =
      at === undefined ? undefined : await home.reader.run(() => home.getCheckpoints(log).get(at))
    const root = checkpoint?.root ?? (await log.flushForReading())
    return new VaultSource({ log, root, checkpoint, files: home.trees.getFilesAt(root) }, home.blobs)
  }

  /** Returns another tree of the same vault, valid until this one is disposed of. */
  withFiles(files: VaultFiles): VaultSource {
    const { log, root, checkpoint } = this
    const sibling = new VaultSource({ log, root, checkpoint, files }, this.#blobs)
    this.#holds.push(...sibling.#holds)
    return sibling
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const hold of this.#holds) hold.release()
  }

  /** Returns the inode of a path. Follows links except in the last name. ENOENT. */
  find(path: string, op: string): MaybePromise<{ readonly number: number; readonly inode: Inode }> {
    return this.read((files) => {
      const number = files.findByPath(files.resolveLinks(path, false, op))
      if (number === undefined) throw new VfsError('ENOENT', path, { op })
      return { number, inode: files.getInode(number) }
    })
  }

  /** Reads the files. The callback runs again if a page has to be fetched. */
  read<T>(read: (files: VaultFiles) => T): MaybePromise<T> {
    return this.#blobs.reader.run(() => read(this.files))
  }

  /** Runs synchronous work whose reads share one transaction, of engines that have them. */
  readTogether<T>(work: () => T): T {
    return this.#blobs.reader.readTogether(work)
  }

  /** Returns a page of entries after a name, in order. A short page is the last. */
  list(directory: number, after: string): MaybePromise<readonly SourceEntry[]> {
    return this.read((files) => {
      const found: SourceEntry[] = []
      for (const { name, inode: number } of files.listEntries(directory, after)) {
        if (name === after) continue
        found.push({ name, number, inode: files.getInode(number) })
        if (found.length === ENTRIES_PER_PAGE) break
      }
      return found
    })
  }

  readBlob(ref: BlobRef): MaybePromise<Uint8Array> {
    return this.read(() => this.#blobs.get(ref))
  }

  /** Returns up to a megabyte of a file from a position, in chunks. */
  readPart(number: number, start: number): MaybePromise<Uint8Array[]> {
    return this.read((files) => [...readContent(files, number, this.#blobs, start, PART_BYTES)])
  }
}

/** One step of a walk: an entry, or a directory whose entries are done. */
export type VaultTreeStep = { readonly entry: SourceEntry } | { readonly left: SourceEntry }

interface Level {
  readonly directory: SourceEntry
  page: readonly SourceEntry[]
  /** Index of the next entry in `page`. */
  index: number
  isLastPage: boolean
}

/** Walks depth first in the order of names, at any depth. The caller decides which directories to enter. */
export class VaultTreeWalk {
  readonly #source: VaultSource
  readonly #levels: Level[] = []

  constructor(source: VaultSource, root: SourceEntry) {
    this.#source = source
    this.enter(root)
  }

  enter(directory: SourceEntry): void {
    this.#levels.push({ directory, page: [], index: 0, isLastPage: false })
  }

  /** Returns the next step; undefined at the end. */
  next(): MaybePromise<VaultTreeStep | undefined> {
    const level = this.#levels.at(-1)
    if (level === undefined) return undefined
    const entry = level.page[level.index]
    if (entry !== undefined) {
      level.index++
      return { entry }
    }
    if (level.isLastPage) {
      this.#levels.pop()
      return { left: level.directory }
    }
    return chain(this.#source.list(level.directory.number, level.page.at(-1)?.name ?? ''), (page) => {
      level.page = page
      level.index = 0
      level.isLastPage = page.length < ENTRIES_PER_PAGE
      return this.next()
    })
  }
}
