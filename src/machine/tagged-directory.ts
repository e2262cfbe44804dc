import { existsSync, lstatSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { isErrno } from './is-errno.ts'
import { listDirectoryIfPresent, readFileIfPresent } from './present-files.ts'
import { makePrivateDirectory, PRIVATE_FILE_MODE } from './private-files.ts'
import { createChildTag, createProcessTag, isStaleTag, parseProcessTag } from './process-tag.ts'

const RECORD = 'fork.json'

/**
 * A directory with files of one process and a record of what they are. Its name is the tag of that process. If the
 * process is killed, one other process takes the directory over.
 */
export class TaggedDirectory {
  readonly path: string

  private constructor(path: string) {
    this.path = path
  }

  /** Creates a directory of this process in another one. */
  static create(parent: string): TaggedDirectory {
    makePrivateDirectory(parent)
    const path = join(parent, createProcessTag())
    makePrivateDirectory(path)
    return new TaggedDirectory(path)
  }

  /** Returns a directory that exists. */
  static at(path: string): TaggedDirectory {
    return new TaggedDirectory(path)
  }

  /** Lists all below a directory, without other files there; none if it is missing or a link. */
  static list(parent: string): TaggedDirectory[] {
    if (lstatSync(parent, { throwIfNoEntry: false })?.isDirectory() !== true) return []
    const names = listDirectoryIfPresent(parent).filter((name) => parseProcessTag(name) !== undefined)
    return names.map((name) => new TaggedDirectory(join(parent, name)))
  }

  /** True if its process has ended. */
  get isAbandoned(): boolean {
    return isStaleTag(basename(this.path))
  }

  get hasRecord(): boolean {
    return existsSync(join(this.path, RECORD))
  }

  /** Returns when it was last renamed or got another entry, in nanoseconds since the epoch; undefined if it is missing. */
  findChangeTime(): bigint | undefined {
    return lstatSync(this.path, { bigint: true, throwIfNoEntry: false })?.ctimeNs
  }

  /** Makes this process the owner, under another name. Undefined if another process was faster. */
  adopt(): TaggedDirectory | undefined {
    return this.#rename(createProcessTag())
  }

  /** Makes a child of this process the owner, under another name. */
  handOver(pid: number): void {
    this.#rename(createChildTag(pid))
  }

  /** Gives an adopted directory back under its old name, for a later process. */
  giveBack(abandoned: TaggedDirectory): void {
    this.#rename(basename(abandoned.path))
  }

  /** Returns the record; undefined if there is none, `damaged` if it cannot be read or is no object. */
  readRecord<Fields>(): Fields | 'damaged' | undefined {
    const content = readFileIfPresent(join(this.path, RECORD))
    if (content === undefined) return undefined
    try {
      const record = JSON.parse(content)
      return typeof record === 'object' && record !== null ? record : 'damaged'
    } catch {
      return 'damaged'
    }
  }

  /** Writes the record in one step; with `isSynced`, also a power cut leaves the old one or the new one. */
  writeRecord(fields: object, { isSynced = false }: { readonly isSynced?: boolean } = {}): void {
    const draft = join(this.path, `${RECORD}.draft`)
    writeFileSync(draft, JSON.stringify(fields), { mode: PRIVATE_FILE_MODE, flush: isSynced })
    renameSync(draft, join(this.path, RECORD))
  }

  /** Removes the record: from then on, the other files are worth nothing. */
  removeRecord(): void {
    rmSync(join(this.path, RECORD), { force: true })
  }

  #rename(name: string): TaggedDirectory | undefined {
    const path = join(dirname(this.path), name)
    try {
      renameSync(this.path, path)
    } catch (error) {
      if (isErrno(error, 'ENOENT')) return undefined
      throw error
    }
    return new TaggedDirectory(path)
  }
}
