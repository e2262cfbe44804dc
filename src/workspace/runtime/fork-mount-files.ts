import { existsSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  createProcessTag,
  isErrno,
  listDirectoryIfPresent,
  PRIVATE_FILE_MODE,
  readFileIfPresent,
  TaggedDirectory,
} from '../../machine/index.ts'
import type { ForkStart } from './execution-workspace.ts'
import type { LeftFork } from './recover-left-forks.ts'

const REQUEST_SUFFIX = '.request'
/** Of a request that the mounting process works on. */
const TAKEN_SUFFIX = '.taken'

/** A mounted fork, for the process that stores its changes if the mounting process was killed. */
export interface ForkMountRecord extends LeftFork, Partial<Pick<ForkStart, 'point' | 'paths'>> {
  readonly privilege: 'root' | 'user'
  /** Mount point and device of a mount of root. */
  readonly mountpoint?: string | undefined
  readonly device?: number | undefined
}

/** State of a request, with the reason if it failed. */
type RequestState = 'pending' | 'taken' | 'done' | { readonly reason: string }

/** A request of another process to store the changes of a mounted fork. */
export interface StoreRequest {
  finish(): void
  fail(reason: string): void
}

/** The directory of a mounted fork: the files of its overlay, a record, and requests of other processes. */
export class ForkMountFiles {
  readonly directory: TaggedDirectory

  private constructor(directory: TaggedDirectory) {
    this.directory = directory
  }

  /** Creates the directory of a mount of this process. */
  static create(mounts: string): ForkMountFiles {
    return new ForkMountFiles(TaggedDirectory.create(mounts))
  }

  static list(mounts: string): ForkMountFiles[] {
    return TaggedDirectory.list(mounts).map((directory) => new ForkMountFiles(directory))
  }

  get path(): string {
    return this.directory.path
  }

  /** Writes the record so that it survives a power cut. */
  writeRecord(record: ForkMountRecord): void {
    this.directory.writeRecord(record, { isSynced: true })
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
      if (existsSync(file + REQUEST_SUFFIX) && !this.directory.isAbandoned) return 'pending'
      const reason = readFileIfPresent(file + TAKEN_SUFFIX)
      if (reason === undefined || this.directory.isAbandoned) return 'done'
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
