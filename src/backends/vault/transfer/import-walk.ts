import { lstatSync, readlinkSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { isTemporaryName } from '../../../machine/index.ts'
import type { MaybePromise } from '../../../store/index.ts'
import { assertLinkTarget, checkPath, child } from '../../../vfs/index.ts'
import { CommitWindow } from './commit-window.ts'
import {
  type DirectoryStack,
  type HostDirectory,
  type HostIdentity,
  isSameFile,
  type ListedName,
  listNames,
} from './host-directory.ts'
import { findSkipReason, HostFault } from './host-fault.ts'
import { describeKind, HostFile } from './host-file.ts'
import { IgnoreRules } from './ignore-rules.ts'
import {
  assertNoDirectory,
  assertStorable,
  escapeBytes,
  type ImportEntry,
  type ImportEntryWithStats,
  type ImportLevel,
  type LargeFile,
} from './import-entries.ts'
import type { ImportOptions, ImportReport, Skipped } from './import-report.ts'
import { type FileContent, ReadAhead } from './read-ahead.ts'
import { hasAttributes, toTransferAttributes } from './transfer-attributes.ts'
import { type ExistingInode, isLinkTo, type VaultTarget } from './vault-target.ts'

/** Files above this are streamed, one at a time. */
const SMALL_FILE_BYTES = 1024 * 1024
/** Files after which a thread reads ahead: fewer are read sooner than it starts. */
const FILES_BEFORE_THREAD = 1000
const GITIGNORE = '.gitignore'
const GIT_DIRECTORY = '.git'

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
  readonly #options: ImportOptions
  readonly #excluded: IgnoreRules
  readonly #window = new CommitWindow()
  readonly #canReadAhead: boolean
  #ahead: ReadAhead<LargeFile | undefined> | undefined
  readonly #kept = new Set<HostDirectory>()
  readonly #levels: ImportLevel[] = []
  readonly #counts = { files: 0, directories: 0, links: 0, bytes: 0, unchanged: 0, ignored: 0 }
  readonly #skipped: Skipped[] = []

  constructor({ target, directories, avoided, options }: ImportWalkOptions) {
    this.#target = target
    this.#directories = directories
    this.#avoided = avoided
    this.#options = options
    this.#excluded = new IgnoreRules(options.exclude)
    this.#canReadAhead = directories.current.isHandle && availableParallelism() > 1
  }

  async run(into: string, existing: ExistingInode | undefined): Promise<ImportReport> {
    const names = listNames(this.#directories.current)
    const rules = this.#readRules(this.#directories.current, '', new IgnoreRules())
    this.#levels.push({
      path: into,
      prefix: '',
      names,
      rules,
      existing,
      attributes: undefined,
      index: 0,
      isTouched: false,
      kept: undefined,
    })
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
    return { ...this.#counts, skipped: this.#skipped }
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
      this.#skip(level.prefix + escapeBytes(name), 'the name is not UTF-8')
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
      const reason = findSkipReason(error)
      if (reason === undefined) throw error
      this.#skip(relativePath, reason)
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
    if (this.#canReadAhead && this.#counts.files >= FILES_BEFORE_THREAD) this.#ahead ??= new ReadAhead()
    return this.#ahead
  }

  /** Returns a handle of the current directory that stays open until its files are imported. */
  #keepOpen(level: ImportLevel): HostDirectory {
    level.kept ??= this.#directories.current.enter('.')
    this.#kept.add(level.kept)
    return level.kept
  }

  /** False for an entry that is ignored. A fault for a path that cannot be stored. */
  #isWanted(found: ImportEntry, isDirectory: boolean): boolean {
    if (this.#isIgnored(found, isDirectory)) {
      this.#counts.ignored++
      return false
    }
    assertStorable(() => checkPath(found.path))
    return true
  }

  #isIgnored({ level, name, relativePath }: ImportEntry, isDirectory: boolean): boolean {
    const path = isDirectory ? `${relativePath}/` : relativePath
    // Temporary files of killed writes are no content.
    if (isTemporaryName(name) || this.#excluded.ignores(path)) return true
    return this.#options.gitignore === true && (name === GIT_DIRECTORY || level.rules.ignores(path))
  }

  #enter({ level, name, path, relativePath, stats, existing }: ImportEntryWithStats): void {
    const directory = this.#directories.current.enter(name)
    try {
      if (this.#avoided !== undefined && isSameFile(directory, this.#avoided))
        throw new HostFault('EINVAL', 'the directory is the home of this vault')
      const names = listNames(directory)
      const rules = this.#readRules(directory, relativePath, level.rules)
      const attributes = toTransferAttributes(stats)
      const isNew = existing?.inode.type !== 'directory'
      if (isNew) {
        this.#submit(level, existing, this.#target.makeDirectory(path, attributes.mode))
        this.#counts.directories++
      }
      const isTouched = isNew || !hasAttributes(existing?.inode, attributes)
      this.#levels.push({
        path,
        prefix: `${relativePath}/`,
        names,
        rules,
        existing,
        attributes,
        index: 0,
        isTouched,
        kept: undefined,
      })
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
    const bytes = readlinkSync(this.#directories.current.at(name), { encoding: 'buffer' })
    const target = bytes.toString()
    if (!Buffer.from(target).equals(bytes))
      throw new HostFault('EINVAL', 'the target of the link is not UTF-8')
    assertStorable(() => assertLinkTarget(target))
    if (isLinkTo(existing, target)) {
      this.#counts.unchanged++
      return
    }
    assertNoDirectory(existing)
    this.#submit(level, existing, this.#target.makeLink(path, target, toTransferAttributes(stats)))
    this.#counts.links++
  }

  #importFile(found: ImportEntryWithStats): LargeFile | undefined {
    const { stats, existing } = found
    if (
      existing?.inode.type === 'file' &&
      existing.inode.size === Number(stats.size) &&
      hasAttributes(existing?.inode, toTransferAttributes(stats))
    ) {
      this.#counts.unchanged++
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
    this.#counts.files++
    this.#counts.bytes += bytes.length
  }

  async #importLargeFile({ level, file, path, relativePath, existing }: LargeFile): Promise<void> {
    try {
      // Commits earlier writes first: the parent directories must exist, and nothing piles up.
      await this.#drain()
      await this.#target.writeStream(path, this.#countBytes(file), toTransferAttributes(file.stats))
      level.isTouched ||= existing?.inode.type !== 'file'
      this.#counts.files++
    } catch (error) {
      const reason = findSkipReason(error)
      if (reason === undefined) throw error
      this.#skip(relativePath, reason)
    } finally {
      file.close()
    }
  }

  async *#countBytes(file: HostFile): AsyncGenerator<Uint8Array> {
    for await (const chunk of file.chunks(this.#options.signal)) {
      yield chunk
      this.#counts.bytes += chunk.length
      this.#reportProgress()
    }
  }

  #reportProgress(): void {
    const { files, links, unchanged, bytes } = this.#counts
    this.#options.onProgress?.({ done: files + links + unchanged, bytes })
  }

  #readRules(directory: HostDirectory, prefix: string, above: IgnoreRules): IgnoreRules {
    if (this.#options.gitignore !== true) return above
    let file: HostFile
    try {
      file = new HostFile(directory.at(GITIGNORE))
    } catch {
      // Missing or unreadable.
      return above
    }
    try {
      return file.stats.size > SMALL_FILE_BYTES ? above : above.within(prefix, file.readAll().toString())
    } finally {
      file.close()
    }
  }

  #submit(level: ImportLevel, existing: ExistingInode | undefined, write: Promise<void>, bytes = 0): void {
    this.#window.add(write, bytes)
    level.isTouched ||= existing?.inode.type !== 'file'
  }

  #skip(path: string, reason: string): void {
    this.#skipped.push({ path, reason })
  }

  async #drain(): Promise<void> {
    await this.#window.drain()
    this.#options.signal?.throwIfAborted()
    this.#reportProgress()
  }
}
