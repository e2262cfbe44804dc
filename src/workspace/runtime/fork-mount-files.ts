import { existsSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import {
  createProcessTag,
  isErrno,
  isStaleTag,
  listDirectoryIfPresent,
  makePrivateDirectory,
  PRIVATE_FILE_MODE,
  readFileIfPresent,
} from '../../machine/index.ts'

const RECORD = 'fork.json'
const REQUEST_SUFFIX = '.request'
/** Of a request that the mounting process works on. */
const TAKEN_SUFFIX = '.taken'

/** A mounted fork, for the process that stores its changes if the mounting process was killed. */
export interface ForkMountRecord {
  readonly fork: string
  /** The directory that it is a fork of. */
  readonly directory: string
  /** Moment up to which the fork knows the directory, in milliseconds since the epoch. */
  readonly since: number
  readonly privilege: 'root' | 'user'
  /** True if the directory had no entries. One that has none any more is not there: its disk is not mounted. */
  readonly wasEmpty: boolean
  /** Mount point and device of a mount of root. */
  readonly mountpoint?: string | undefined
  readonly device?: number | undefined
}

/** State of a request, with the reason if it failed. */
export type RequestState = 'pending' | 'taken' | 'done' | { readonly reason: string }

/** A request of another process to store the changes of a mounted fork. */
export interface StoreRequest {
  finish(): void
  fail(reason: string): void
}

/**
 * The directory of a mounted fork: the files of its overlay, a record, and requests of other processes. Its name is the
 * tag of the process that owns it.
 */
export class ForkMountFiles {
  readonly path: string

  private constructor(path: string) {
    this.path = path
  }

  /** Creates the directory of a mount of this process. */
  static create(mounts: string): ForkMountFiles {
    makePrivateDirectory(mounts)
    const path = join(mounts, createProcessTag())
    makePrivateDirectory(path)
    return new ForkMountFiles(path)
  }

  static list(mounts: string): ForkMountFiles[] {
    return listDirectoryIfPresent(mounts).map((name) => new ForkMountFiles(join(mounts, name)))
  }

  /** True if the process that mounted it has ended, and its changes may not be stored yet. */
  get isAbandoned(): boolean {
    return isStaleTag(basename(this.path))
  }

  /** Takes an abandoned mount over. Undefined if another process did. */
  adopt(): ForkMountFiles | undefined {
    return this.#rename(createProcessTag())
  }

  /** Gives an adopted mount back, for a later command. */
  giveBack(abandoned: ForkMountFiles): void {
    this.#rename(basename(abandoned.path))
  }

  #rename(name: string): ForkMountFiles | undefined {
    const path = join(dirname(this.path), name)
    try {
      renameSync(this.path, path)
    } catch (error) {
      if (isErrno(error, 'ENOENT')) return undefined
      throw error
    }
    return new ForkMountFiles(path)
  }

  /** Returns the record; undefined if nothing was mounted yet, `damaged` if it cannot be read. */
  readRecord(): ForkMountRecord | 'damaged' | undefined {
    const content = readFileIfPresent(join(this.path, RECORD))
    try {
      return content === undefined ? undefined : JSON.parse(content)
    } catch {
      return 'damaged'
    }
  }

  /** Writes the record so that a power cut leaves the old one or the new one. */
  writeRecord(record: ForkMountRecord): void {
    const draft = join(this.path, `${RECORD}.draft`)
    writeFileSync(draft, JSON.stringify(record), { mode: PRIVATE_FILE_MODE, flush: true })
    renameSync(draft, join(this.path, RECORD))
  }

  /** Asks the mounting process to store the changes. Returns a function that reports the state. */
  request(): () => RequestState {
    const file = join(this.path, createProcessTag())
    try {
      writeFileSync(file + REQUEST_SUFFIX, '', { flag: 'wx', mode: PRIVATE_FILE_MODE })
    } catch (error) {
      // It was unmounted just now, which stores the changes.
      if (isErrno(error, 'ENOENT')) return () => 'done'
      throw error
    }
    return () => {
      if (existsSync(file + REQUEST_SUFFIX) && !this.isAbandoned) return 'pending'
      const reason = readFileIfPresent(file + TAKEN_SUFFIX)
      if (reason === undefined || this.isAbandoned) return 'done'
      if (reason === '') return 'taken'
      rmSync(file + TAKEN_SUFFIX, { force: true })
      return { reason }
    }
  }

  /** Takes the requests that are pending. */
  takeRequests(): StoreRequest[] {
    const names = listDirectoryIfPresent(this.path).filter((name) => name.endsWith(REQUEST_SUFFIX))
    return names.map((name) => {
      const file = join(this.path, name.slice(0, -REQUEST_SUFFIX.length) + TAKEN_SUFFIX)
      renameSync(join(this.path, name), file)
      return {
        finish: () => rmSync(file, { force: true }),
        fail: (reason) => {
          if (existsSync(file)) writeFileSync(file, reason)
        },
      }
    })
  }
}
