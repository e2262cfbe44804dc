import { lstatSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import type { MaybePromise } from '../../../store/index.ts'
import { checkPath, child } from '../../../vfs/index.ts'
import { CommitWindow } from './commit-window.ts'
import {
  type DirectoryStack,
  type HostDirectory,
  type HostIdentity,
  isSameFile,
  type ListedName,
  listNames,
} from './host-directory.ts'
import { HostFault } from './host-fault.ts'
import { describeKind, HostFile } from './host-file.ts'
import {
  assertNoDirectory,
  assertStorable,
  createLevel,
  escapeBytes,
  type ImportEntry,
  type ImportEntryWithStats,
  type ImportLevel,
  isUnchangedFile,
  type LargeFile,
  readLinkTarget,
} from './import-entries.ts'
import { ImportFilter } from './import-filter.ts'
import type { ImportOptions, ImportReport } from './import-report.ts'
import { ImportTally } from './import-tally.ts'
import { type FileContent, ReadAhead } from './read-ahead.ts'
import { hasAttributes, toTransferAttributes } from './transfer-attributes.ts'
import { type ExistingInode, isLinkTo, type VaultTarget } from './vault-target.ts'

/** Files above this are streamed, one at a time. */
const SMALL_FILE_BYTES = 1024 * 1024
/** Files after which a thread reads ahead: fewer are read sooner than it starts. */
const FILES_BEFORE_THREAD = 1000

interface ImportWalkOptions {
  readonly target: VaultTarget
  readonly directories: DirectoryStack
  /** A directory that is never entered: the home itself. */
  readonly avoided: HostIdentity | undefined
  readonly options: ImportOptions
}

/** Walks a directory of the machine and imports its entries. */
export class ImportWalk {
  readonly #target: VaultTarget
  readonly #directories: DirectoryStack
  readonly #avoided: HostIdentity | undefined
  readonly #signal: AbortSignal | undefined
  readonly #filter: ImportFilter
  readonly #tally: ImportTally
  readonly #window = new CommitWindow()
  readonly #canReadAhead: boolean
  #ahead: ReadAhead<LargeFile | undefined> | undefined
  readonly #kept = new Set<HostDirectory>()
  readonly #levels: ImportLevel[] = []

  constructor({ target, directories, avoided, options }: ImportWalkOptions) {
    this.#target = target
    this.#directories = directories
    this.#avoided = avoided
    this.#signal = options.signal
    this.#filter = new ImportFilter(options)
    this.#tally = new ImportTally(options)
    this.#canReadAhead = directories.current.isHandle && availableParallelism() > 1
  }

  async run(into: string, existing: ExistingInode | undefined): Promise<ImportReport> {
    const { current } = this.#directories
    const names = listNames(current)
    const rules = this.#filter.readRules(current, '')
    this.#levels.push(createLevel({ path: into, prefix: '', names, rules, existing, attributes: undefined }))
    try {
      for (let level = this.#levels.at(-1); level; level = this.#levels.at(-1)) {
        const next = level.names[level.index++]
        const pending = this.#findExisting(level, next?.name)
        const childInode = pending instanceof Promise ? await pending : pending
        // Small entries are submitted without awaiting, so that a window of them is one commit.
        const large = this.#step(level, next, childInode)
        if (large !== undefined) await this.#importLargeFile(large)
        if (this.#ahead?.isFull) await this.#importReadFiles(this.#ahead)
        if (this.#window.isFull) await this.#drain()
      }
      while (this.#ahead?.isEmpty === false) await this.#importReadFiles(this.#ahead)
    } finally {
      this.#ahead?.[Symbol.dispose]()
      for (const directory of this.#kept) directory.close()
      await this.#drain()
    }
    return this.#tally.toReport()
  }

  async #importReadFiles(ahead: ReadAhead<LargeFile | undefined>): Promise<void> {
    for (const run of await ahead.take()) {
      const large = run()
      if (large !== undefined) await this.#importLargeFile(large)
      if (this.#window.isFull) await this.#drain()
    }
  }

  #findExisting(
    { existing }: ImportLevel,
    name: string | Buffer | undefined,
  ): MaybePromise<ExistingInode | undefined> {
    return typeof name === 'string' ? this.#target.findChild(existing, name) : undefined
  }

  /** Imports the next entry of a directory, or leaves the directory. Returns a file that is too large for this. */
  #step(
    level: ImportLevel,
    next: ListedName | undefined,
    existing: ExistingInode | undefined,
  ): LargeFile | undefined {
    if (next === undefined) {
      this.#leave(level)
      return undefined
    }
    const { name, isFile } = next
    if (typeof name !== 'string') {
      this.#tally.skip(level.prefix + escapeBytes(name), 'the name is not UTF-8')
      return undefined
    }
    const relativePath = level.prefix + name
    return this.#orSkip(relativePath, () => {
      const found = { level, name, path: child(level.path, name), relativePath, existing }
      // Its stats are those of the open file.
      if (isFile && existing === undefined) return this.#importNewFile(found)
      const stats = lstatSync(this.#directories.current.at(name), { bigint: true })
      return this.#importEntry({ ...found, stats })
    })
  }

  /** Runs the import of an entry. One that cannot be read or stored is skipped. */
  #orSkip(relativePath: string, run: () => LargeFile | undefined): LargeFile | undefined {
    try {
      return run()
    } catch (error) {
      this.#tally.skipOrThrow(relativePath, error)
      return undefined
    }
  }

  #importEntry(found: ImportEntryWithStats): LargeFile | undefined {
    const { stats } = found
    if (!this.#isWanted(found, stats.isDirectory())) return undefined
    if (stats.isDirectory()) this.#enter(found)
    else if (stats.isSymbolicLink()) this.#importLink(found)
    else if (stats.isFile()) return this.#importFile(found)
    else throw new HostFault('ENOTSUP', `${describeKind(stats)} cannot be imported`)
    return undefined
  }

  #importNewFile(found: ImportEntry): LargeFile | undefined {
    if (!this.#isWanted(found, false)) return undefined
    const ahead = this.#findReadAhead()
    if (ahead === undefined) return this.#storeFile(found, this.#directories.current)
    const directory = this.#keepOpen(found.level)
    const store = (content: FileContent | undefined) =>
      content === undefined ? this.#storeFile(found, directory) : this.#storeContent(found, content)
    ahead.add((content) => this.#orSkip(found.relativePath, () => store(content)), directory.at(found.name))
    return undefined
  }

  #findReadAhead(): ReadAhead<LargeFile | undefined> | undefined {
    if (this.#canReadAhead && this.#tally.counts.files >= FILES_BEFORE_THREAD) this.#ahead ??= new ReadAhead()
    return this.#ahead
  }

  /** Returns a handle of the current directory that stays open until its files are imported. */
  #keepOpen(level: ImportLevel): HostDirectory {
    level.kept ??= this.#directories.current.enter('.')
    this.#kept.add(level.kept)
    return level.kept
  }

  /** False for an entry that is ignored. A fault for a path that cannot be stored. */
  #isWanted({ level, name, relativePath, path }: ImportEntry, isDirectory: boolean): boolean {
    if (this.#filter.isIgnored({ name, relativePath, isDirectory }, level.rules)) {
      this.#tally.counts.ignored++
      return false
    }
    assertStorable(() => checkPath(path))
    return true
  }

  #enter({ level: parent, name, path, relativePath, stats, existing }: ImportEntryWithStats): void {
    const directory = this.#directories.current.enter(name)
    try {
      if (this.#avoided !== undefined && isSameFile(directory, this.#avoided))
        throw new HostFault('EINVAL', 'the directory is the home of this vault')
      const names = listNames(directory)
      const rules = this.#filter.readRules(directory, relativePath, parent.rules)
      const attributes = toTransferAttributes(stats)
      const isNew = existing?.inode.type !== 'directory'
      if (isNew) {
        this.#submit(parent, existing, this.#target.makeDirectory(path, attributes.mode))
        this.#tally.counts.directories++
      }
      const isTouched = isNew || !hasAttributes(existing?.inode, attributes)
      const level = { path, prefix: `${relativePath}/`, names, rules, existing, attributes }
      this.#levels.push({ ...createLevel(level), isTouched })
    } catch (error) {
      directory.close()
      throw error
    }
    this.#directories.down(directory)
  }

  #leave(level: ImportLevel): void {
    this.#levels.pop()
    this.#directories.up()
    if (this.#ahead === undefined || level.kept === undefined) this.#finish(level)
    else this.#ahead.add(() => this.#finish(level))
  }

  /** Sets the attributes last, because every new name changes the directory's time. */
  #finish({ path, attributes, isTouched, kept }: ImportLevel): undefined {
    if (attributes !== undefined && isTouched)
      this.#window.add(this.#target.setAttributes(path, attributes), 0)
    if (kept !== undefined && this.#kept.delete(kept)) kept.close()
  }

  #importLink({ level, name, path, stats, existing }: ImportEntryWithStats): void {
    const target = readLinkTarget(this.#directories.current.at(name))
    if (isLinkTo(existing, target)) {
      this.#tally.counts.unchanged++
      return
    }
    assertNoDirectory(existing)
    this.#submit(level, existing, this.#target.makeLink(path, target, toTransferAttributes(stats)))
    this.#tally.counts.links++
  }

  #importFile(found: ImportEntryWithStats): LargeFile | undefined {
    const { stats, existing } = found
    if (isUnchangedFile(existing, stats)) {
      this.#tally.counts.unchanged++
      return undefined
    }
    assertNoDirectory(existing)
    return this.#storeFile(found, this.#directories.current)
  }

  /** Stores a small file, or returns a large one. */
  #storeFile(found: ImportEntry, directory: HostDirectory): LargeFile | undefined {
    const file = new HostFile(directory.at(found.name))
    if (file.stats.size > SMALL_FILE_BYTES) return { ...found, file }
    try {
      const attributes = toTransferAttributes(file.stats)
      return this.#storeContent(found, { bytes: file.readAll(), attributes })
    } finally {
      file.close()
    }
  }

  #storeContent(
    { level, path, existing }: ImportEntry,
    { bytes, attributes, hashes }: Pick<FileContent, 'bytes' | 'attributes'> & Partial<FileContent>,
  ): undefined {
    const write = this.#target.writeBytes(path, bytes, attributes, hashes)
    this.#submit(level, existing, write, bytes.length)
    this.#tally.addFile(bytes.length)
  }

  async #importLargeFile({ level, file, path, relativePath, existing }: LargeFile): Promise<void> {
    try {
      // Commits earlier writes first: the parent directories must exist, and nothing piles up.
      await this.#drain()
      await this.#target.writeStream(path, this.#countBytes(file), toTransferAttributes(file.stats))
      level.isTouched ||= existing?.inode.type !== 'file'
      this.#tally.counts.files++
    } catch (error) {
      this.#tally.skipOrThrow(relativePath, error)
    } finally {
      file.close()
    }
  }

  async *#countBytes(file: HostFile): AsyncGenerator<Uint8Array> {
    for await (const chunk of file.chunks(this.#signal)) {
      yield chunk
      this.#tally.counts.bytes += chunk.length
      this.#tally.reportProgress()
    }
  }

  #submit(level: ImportLevel, existing: ExistingInode | undefined, write: Promise<void>, bytes = 0): void {
    this.#window.add(write, bytes)
    level.isTouched ||= existing?.inode.type !== 'file'
  }

  async #drain(): Promise<void> {
    await this.#window.drain()
    this.#signal?.throwIfAborted()
    this.#tally.reportProgress()
  }
}
