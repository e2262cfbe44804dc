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

/** A mounted fork, for the process that stores its changes if the mounting process was killed. */
export interface ForkMountRecord {
  readonly fork: string
  /** The directory that it is a fork of. */
  readonly directory: string
  /** Start of the mount, in milliseconds since the epoch. */
  readonly since: number
  readonly privilege: 'root' | 'user'
}

/** A request of another process to store the changes of a mounted fork. Its file is removed once that is done. */
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
    const path = join(dirname(this.path), createProcessTag())
    try {
      renameSync(this.path, path)
    } catch (error) {
      if (isErrno(error, 'ENOENT')) return undefined
      throw error
    }
    return new ForkMountFiles(path)
  }

  /** Returns the record; undefined if nothing was mounted yet. */
  readRecord(): ForkMountRecord | undefined {
    const content = readFileIfPresent(join(this.path, RECORD))
    return content === undefined ? undefined : JSON.parse(content)
  }

  writeRecord(record: ForkMountRecord): void {
    const draft = join(this.path, `${RECORD}.draft`)
    writeFileSync(draft, JSON.stringify(record), { mode: PRIVATE_FILE_MODE })
    renameSync(draft, join(this.path, RECORD))
  }

  /** Asks the mounting process to store the changes. Returns the reason if that failed; false as long as it is pending. */
  request(): () => string | boolean {
    const file = join(this.path, createProcessTag() + REQUEST_SUFFIX)
    try {
      writeFileSync(file, '', { flag: 'wx', mode: PRIVATE_FILE_MODE })
    } catch (error) {
      // It was unmounted just now, which stores the changes.
      if (isErrno(error, 'ENOENT')) return () => true
      throw error
    }
    return () => {
      const reason = readFileIfPresent(file)
      if (reason === undefined || this.isAbandoned) return true
      if (reason !== '') rmSync(file, { force: true })
      return reason === '' ? false : reason
    }
  }

  /** Lists the requests that are pending. */
  listRequests(): StoreRequest[] {
    const names = listDirectoryIfPresent(this.path).filter((name) => name.endsWith(REQUEST_SUFFIX))
    return names.map((name) => {
      const file = join(this.path, name)
      return {
        finish: () => rmSync(file, { force: true }),
        fail: (reason) => {
          if (existsSync(file)) writeFileSync(file, reason)
        },
      }
    })
  }
}
