import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  createProcessTag,
  isErrno,
  isStaleTag,
  listDirectoryIfPresent,
  makePrivateDirectory,
  PRIVATE_FILE_MODE,
} from '../machine/index.ts'
import type { PublishedPort } from '../network/index.ts'
import { createNumberedForkName, isContinuedByOthers, type RunningSession } from '../workspace/index.ts'
import { toUnwritableHomeError } from './unwritable-home.ts'

const SUFFIX = '.json'
/** Stands for the commands that go on in a fork after the first one has ended. */
const JOINED_COMMAND = 'coppice enter'

/** A fork of a directory in which a command runs, or is about to. */
export interface RunningFork {
  readonly fork: string
  readonly directory: string
  /** The command as a person types it, without secrets; `coppice enter` once only those that joined it run. */
  readonly command: string
  /** Time of the claim, in milliseconds since the epoch. */
  readonly since: number
  /** Tag of the process that runs it. */
  readonly owner: string
  /** Absent until the command starts. */
  readonly session?: RunningSession
  /** Ports on which programs in it listen, with their addresses on this machine. */
  readonly ports?: readonly PublishedPort[]
}

/** A claim on the name of a fork while a command runs in it. */
export interface ForkClaim extends Disposable {
  readonly fork: string
  /** Records where the command runs, so that others can join it. */
  start(session: RunningSession): void
  /** Records the ports of the fork, so that others find them. */
  publish(ports: readonly PublishedPort[]): void
}

/** Claims the first free name for a new fork of a directory: one that is not a vault and that `claim` accepts. */
export function claimNewFork<Claim>(
  directory: string,
  vaults: readonly string[],
  claim: (fork: string) => Claim | undefined,
): { readonly name: string; readonly claim: Claim } {
  const vaultNames = new Set(vaults)
  for (let number = 1; ; number++) {
    const name = createNumberedForkName(directory, number)
    const claimed = vaultNames.has(name) ? undefined : claim(name)
    if (claimed !== undefined) return { name, claim: claimed }
  }
}

/**
 * The forks of a home in which commands run. Each has a record, a file in the directory `running`. It also reserves the
 * name of a fork that does not exist yet.
 */
export class RunningForks {
  readonly #home: string
  readonly #directory: string

  private constructor(home: string) {
    this.#home = home
    this.#directory = join(home, 'running')
  }

  /** @param home path of the home. */
  static of(home: string): RunningForks {
    return new RunningForks(home)
  }

  /**
   * Claims a fork; undefined if a living process has claimed it, or is about to take it over from a killed one. EROFS or
   * EACCES if the home cannot be written.
   */
  claim(running: Pick<RunningFork, 'fork' | 'directory' | 'command'>): ForkClaim | undefined {
    let record: RunningFork = { ...running, since: Date.now(), owner: createProcessTag() }
    const path = this.#getPath(running.fork)
    if (!this.#create(path, record)) return undefined
    const update = (part: Partial<RunningFork>) => {
      record = { ...record, ...part }
      this.#replace(path, record)
    }
    return {
      fork: running.fork,
      start: (session) => update({ session }),
      publish: (ports) => update({ ports }),
      [Symbol.dispose]: () => rmSync(path, { force: true }),
    }
  }

  /** Lists the claimed forks. */
  list(): RunningFork[] {
    return this.#listNames().flatMap((name) => this.#read(join(this.#directory, name)) ?? [])
  }

  /** Finds the claim of a fork; undefined if no command runs in it. */
  find(fork: string): RunningFork | undefined {
    return this.#read(this.#getPath(fork))
  }

  /** Creates a record in one step. False if there is one of a living process. */
  #create(path: string, record: RunningFork): boolean {
    const draft = `${path}.${record.owner}`
    this.#writeDraft(draft, record)
    try {
      return tryLink(draft, path) || this.#takeOver(path, draft)
    } finally {
      rmSync(draft, { force: true })
    }
  }

  #writeDraft(draft: string, record: RunningFork): void {
    try {
      makePrivateDirectory(this.#directory)
      writeFileSync(draft, JSON.stringify(record), { mode: PRIVATE_FILE_MODE })
    } catch (error) {
      throw toUnwritableHomeError(this.#home, error)
    }
  }

  /** Replaces the record of a killed process. If several processes try, one succeeds: the one that links `.next`. */
  #takeOver(path: string, draft: string): boolean {
    const successor = `${path}.next`
    if (this.#read(path) !== undefined) return false
    if (!tryLink(draft, successor)) {
      // The process that was about to replace it was killed, too.
      if (this.#read(successor) === undefined) rmSync(successor, { force: true })
      return false
    }
    try {
      // Another process may have replaced it before this one linked its successor.
      if (this.#read(path) !== undefined) return false
      renameSync(draft, path)
      return true
    } finally {
      rmSync(successor, { force: true })
    }
  }

  /** Replaces a record in one step. */
  #replace(path: string, record: RunningFork): void {
    const draft = `${path}.${record.owner}`
    writeFileSync(draft, JSON.stringify(record), { mode: PRIVATE_FILE_MODE })
    renameSync(draft, path)
  }

  /** Reads a record; undefined if it is missing or damaged, or its process has ended. */
  #read(path: string): RunningFork | undefined {
    try {
      const record: RunningFork = JSON.parse(readFileSync(path, 'utf8'))
      if (isStaleTag(record.owner)) return undefined
      const isContinued = record.session !== undefined && isContinuedByOthers(record.session)
      return isContinued ? { ...record, command: JOINED_COMMAND } : record
    } catch (error) {
      // Removed since it was listed, or truncated by a full disk.
      if (isErrno(error, 'ENOENT') || error instanceof SyntaxError) return undefined
      throw error
    }
  }

  #listNames(): string[] {
    return listDirectoryIfPresent(this.#directory).filter((name) => name.endsWith(SUFFIX))
  }

  #getPath(fork: string): string {
    return join(this.#directory, fork + SUFFIX)
  }
}

/** Gives a file a second name in one step. False if that name is taken. */
function tryLink(file: string, name: string): boolean {
  try {
    linkSync(file, name)
    return true
  } catch (error) {
    if (isErrno(error, 'EEXIST')) return false
    throw error
  }
}
