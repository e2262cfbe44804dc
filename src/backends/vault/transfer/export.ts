import { chmodSync, statSync, utimesSync } from 'node:fs'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { toUtimesArgument } from '../../../machine/index.ts'
import { type Inode, type MaybePromise, type StoreHome, toInlineText } from '../../../store/index.ts'
import { basename, checkPath, VfsError } from '../../../vfs/index.ts'
import { assertNoConflicts, assertReplaceable } from './export-conflicts.ts'
import { FileWriters } from './file-writers.ts'
import { HostCursor } from './host-cursor.ts'
import { isSameFile } from './host-directory.ts'
import { type HostWriteMode, HostWriter, PLAIN_PERMISSIONS } from './host-writer.ts'
import type { TransferProgress } from './progress.ts'
import { type SourceEntry, VaultSource, type VaultTreeStep, VaultTreeWalk } from './vault-source.ts'

/** Limit for a synchronous write. Larger files are written asynchronously. */
const SMALL_FILE_BYTES = 1024 * 1024
/** Files of a new tree from which on threads write: to start them takes as long as to write some hundred. */
const FILES_BEFORE_THREADS = 1000
/** Limit of Linux for a path in a system call, with the byte after its end. */
const MAX_PATH_BYTES = 4096
const ENTRIES_PER_YIELD = 256
const BYTES_PER_YIELD = 8 * 1024 * 1024

/** Options of `export`. */
export interface ExportOptions {
  /** The checkpoint to export. The current state when absent. */
  readonly at?: string
  /** The directory or file to export. `/` when absent. */
  readonly path?: string
  /** Replace existing files and links. Directories are merged either way, and nothing is removed. */
  readonly overwrite?: boolean
  /**
   * The directory does not exist, and nobody looks into it before the export is complete, or when it fails. Each file is
   * then written at its name. Throws EEXIST for a directory that exists.
   */
  readonly isNew?: boolean
  /** Called every few hundred files and every few megabytes. */
  readonly onProgress?: (progress: TransferProgress) => void
  readonly signal?: AbortSignal
}

/** Result of `export`. */
export interface ExportReport {
  readonly files: number
  readonly directories: number
  readonly links: number
  /** Bytes of content. */
  readonly bytes: number
  /** Devices, sockets and pipes of the vault, which are not exported. */
  readonly skipped: readonly string[]
}

/**
 * Exports a tree of a vault into a directory of the machine, which is created if it is missing.
 *
 * Throws EEXIST before it writes anything if a path is taken, and ENOENT for the vault, the checkpoint or the path.
 * Temporary files of killed exports are removed. No link of the target is followed, even one that another process puts
 * there meanwhile. Links of the vault are written with their target unchanged. Each file appears whole; a directory
 * gets its permissions and times after its content. Nothing is synced to disk.
 */
export async function exportVault(
  home: StoreHome,
  vault: string,
  directory: string,
  options: ExportOptions = {},
): Promise<ExportReport> {
  options.signal?.throwIfAborted()
  await using source = await VaultSource.open(home, vault, options.at)
  const path = checkPath(options.path ?? '/', 'export')
  const entry = { name: basename(path), ...(await source.find(path, 'export')) }
  const cursor = new HostCursor(directory, options.isNew)
  try {
    using job = new ExportJob(source, cursor, options)
    await (entry.inode.type === 'directory' ? job.runDirectory(entry) : job.runEntry(entry))
    return job.report
  } finally {
    cursor.close()
  }
}

/** Throws EINVAL if a directory is the home: an export would replace the store. */
export function assertNotHome(directory: string, homePath: string): void {
  const [target, home] = [directory, homePath].map((path) =>
    statSync(path, { bigint: true, throwIfNoEntry: false }),
  )
  if (target === undefined || home === undefined || !isSameFile(target, home)) return
  const detail = 'the directory is the home of the vault; name another one'
  throw new VfsError('EINVAL', directory, { op: 'export', detail })
}

class ExportJob implements Disposable {
  readonly #source: VaultSource
  readonly #cursor: HostCursor
  readonly #options: ExportOptions
  readonly #overwrite: boolean
  readonly #mode: HostWriteMode
  readonly #counts = { files: 0, directories: 0, links: 0, bytes: 0 }
  readonly #skipped: string[] = []
  /** Threads that write files of a new tree; undefined until they are worth their start. */
  #writers: FileWriters | undefined
  /** Directories whose files threads may still write, inner ones first. They get their attributes last. */
  readonly #unfinished: { readonly path: string; readonly inode: Inode }[] = []
  #entriesSinceYield = 0
  #bytesSinceYield = 0

  constructor(source: VaultSource, cursor: HostCursor, options: ExportOptions) {
    this.#source = source
    this.#cursor = cursor
    this.#options = options
    this.#overwrite = options.overwrite ?? false
    this.#mode = options.isNew === true ? 'fill' : this.#overwrite ? 'replace' : 'add'
  }

  get report(): ExportReport {
    return { ...this.#counts, skipped: [...this.#skipped] }
  }

  async runDirectory(root: SourceEntry): Promise<void> {
    if (this.#mode !== 'fill') {
      await assertNoConflicts(this.#source, root, this.#cursor, this.#overwrite)
      this.#cursor.removeLeftovers()
    }
    const walk = new VaultTreeWalk(this.#source, root)
    for (let hasMore = true; hasMore; ) {
      hasMore = await this.#source.readTogether(() => this.#runSteps(walk, root))
      if (this.#isYieldDue) await this.#yield()
    }
    await this.#writers?.finish()
    for (const { path, inode } of this.#unfinished)
      this.#cursor.runAt(path, () => setDirectoryAttributes(path, inode))
    await this.#yield()
  }

  [Symbol.dispose](): void {
    this.#writers?.[Symbol.dispose]()
  }

  /** Runs steps until one has to wait or other work is due. Returns false after the last. */
  #runSteps(walk: VaultTreeWalk, root: SourceEntry): MaybePromise<boolean> {
    for (;;) {
      const next = walk.next()
      if (next instanceof Promise) return next.then((step) => this.#runStep(walk, root, step))
      const hasMore = this.#runStep(walk, root, next)
      if (hasMore !== true || this.#isYieldDue) return hasMore
    }
  }

  #runStep(walk: VaultTreeWalk, root: SourceEntry, step: VaultTreeStep | undefined): MaybePromise<boolean> {
    if (step === undefined) return false
    this.#entriesSinceYield++
    if ('left' in step) {
      if (step.left !== root) this.#leaveDirectory(step.left)
    } else if (step.entry.inode.type === 'directory') {
      if (this.#mode === 'fill') this.#cursor.create(step.entry.name)
      else this.#cursor.enterOrCreate(step.entry.name)
      this.#counts.directories++
      walk.enter(step.entry)
    } else return this.#writeEntry(step.entry)?.then(() => true) ?? true
    return true
  }

  async runEntry(entry: SourceEntry): Promise<void> {
    assertReplaceable(this.#cursor, entry, this.#overwrite)
    this.#cursor.removeLeftovers()
    await this.#writeEntry(entry)
    await this.#yield()
  }

  #leaveDirectory({ inode }: SourceEntry): void {
    const path = this.#writers && this.#findShortPath('')
    if (path !== undefined) this.#unfinished.push({ path, inode })
    else this.#cursor.run('', () => setDirectoryAttributes(this.#cursor.current.self(), inode))
    this.#cursor.leave()
  }

  /** Returns the path of a name for a system call; undefined if it is too long for one. */
  #findShortPath(name: string): string | undefined {
    const path = this.#cursor.getPath(name)
    return Buffer.byteLength(path) < MAX_PATH_BYTES ? path : undefined
  }

  /** Writes a file or link: synchronously, unless it is large or remote. */
  #writeEntry(entry: SourceEntry): Promise<void> | undefined {
    const { name, inode, number } = entry
    const writer = this.#cursor.run(name, () => new HostWriter(this.#cursor.current, name, this.#mode))
    if (inode.type === 'symlink') {
      this.#cursor.run(name, () => writer.link(toInlineText(inode.content), inode))
      this.#counts.links++
    } else if (inode.type !== 'file') this.#skipped.push(this.#cursor.getPath(name))
    else if (inode.size > SMALL_FILE_BYTES) return this.#writeAsync(entry, writer)
    else {
      const content = this.#source.readPart(number, 0)
      if (content instanceof Promise) return content.then((chunks) => this.#writeSync(entry, writer, chunks))
      this.#writeSync(entry, writer, content)
    }
    return undefined
  }

  #writeSync({ name, inode }: SourceEntry, writer: HostWriter, chunks: readonly Uint8Array[]): void {
    const path = this.#findWriters() && this.#findShortPath(name)
    const isTaken =
      path !== undefined && this.#writers?.add(path, chunks, { mode: inode.mode, mtime: inode.mtime })
    if (isTaken !== true) this.#cursor.run(name, () => writer.writeSync(chunks, inode))
    this.#counts.files++
    this.#counts.bytes += inode.size
    this.#bytesSinceYield += inode.size
  }

  #findWriters(): FileWriters | undefined {
    if (this.#mode === 'fill' && this.#counts.files >= FILES_BEFORE_THREADS)
      this.#writers ??= new FileWriters()
    return this.#writers
  }

  async #writeAsync({ name, inode, number }: SourceEntry, writer: HostWriter): Promise<void> {
    try {
      await writer.writeAsync(this.#readParts(number, inode.size), inode, (bytes) =>
        this.#reportProgress(bytes),
      )
      this.#counts.files++
    } catch (error) {
      throw this.#cursor.toHostError(error, name)
    }
  }

  async *#readParts(number: number, size: number): AsyncGenerator<Uint8Array[]> {
    for (let position = 0; position < size; ) {
      const part = await this.#source.readPart(number, position)
      yield part
      position += part.reduce((sum, { length }) => sum + length, 0)
    }
  }

  #reportProgress(more: number): void {
    this.#options.signal?.throwIfAborted()
    this.#counts.bytes += more
    const { files, links, bytes } = this.#counts
    this.#options.onProgress?.({ done: files + links, bytes })
  }

  get #isYieldDue(): boolean {
    return this.#entriesSinceYield >= ENTRIES_PER_YIELD || this.#bytesSinceYield >= BYTES_PER_YIELD
  }

  async #yield(): Promise<void> {
    this.#entriesSinceYield = 0
    this.#bytesSinceYield = 0
    await nextTurn()
    this.#reportProgress(0)
  }
}

function setDirectoryAttributes(path: string, { mode, mtime }: Inode): void {
  const time = toUtimesArgument(mtime)
  utimesSync(path, time, time)
  chmodSync(path, mode & PLAIN_PERMISSIONS)
}
