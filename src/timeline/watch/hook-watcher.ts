import { existsSync, type FSWatcher, readdirSync, renameSync, rmSync, watch } from 'node:fs'
import { dirname } from 'node:path'
import { makePrivateDirectory, readFileIfPresent } from '../../machine/index.ts'
import { tryLockFile } from '../../workspace/link/index.ts'
import type { WatchAnswer } from '../events/index.ts'
import { DirectoryWatches } from './directory-watches.ts'
import { writeExchangeFile } from './exchange-file.ts'
import {
  getExchangeFiles,
  getExchangeName,
  getRequestDirectory,
  getWatcherLock,
  isRequestName,
  WATCHER_VERSION,
  type WatcherRequest,
  type WatcherStatus,
} from './watcher-protocol.ts'

/** So long an agent may think, or its user read, before the next hook. */
const IDLE_MS = 30 * 60_000

interface WatcherOptions {
  /** Time without a hook after which it stops. */
  readonly idleMs?: number
}

/**
 * Watches the directories of a home for its hooks. It stops when no hook has asked for a while, when its directory of
 * requests is removed, and at a request of another version. It opens no store.
 */
export class HookWatcher implements Disposable {
  /** Resolves when it has released the home. */
  readonly closed: Promise<void>
  readonly #directory: string
  readonly #lock: Disposable
  readonly #watches: DirectoryWatches
  readonly #startedAt = new Date()
  readonly #idleMs: number
  readonly #idle: NodeJS.Timeout
  readonly #requests: FSWatcher
  readonly #resolveClosed: () => void
  #isStopping = false

  private constructor(home: string, lock: Disposable, idleMs: number) {
    this.#directory = getRequestDirectory(home)
    this.#lock = lock
    this.#watches = new DirectoryWatches(home)
    this.#idleMs = idleMs
    const { promise, resolve } = Promise.withResolvers<void>()
    this.closed = promise
    this.#resolveClosed = resolve
    this.#idle = setTimeout(() => this.stop(), idleMs)
    this.#requests = watch(this.#directory, (_, name) => this.#receive(name ?? ''))
    this.#requests.on('error', () => this.stop())
    // Those of hooks that found the directory before it was watched.
    for (const name of readdirSync(this.#directory)) this.#receive(name)
  }

  /** Starts the watcher of a home; undefined, without side effects, if one runs. */
  static start(home: string, { idleMs = IDLE_MS }: WatcherOptions = {}): HookWatcher | undefined {
    const directory = getRequestDirectory(home)
    makePrivateDirectory(dirname(directory))
    const lock = tryLockFile(getWatcherLock(home))
    if (lock === undefined) return undefined
    try {
      // A killed watcher left it.
      removeRequests(directory)
      makePrivateDirectory(directory)
      return new HookWatcher(home, lock, idleMs)
    } catch (error) {
      lock[Symbol.dispose]()
      throw error
    }
  }

  get status(): WatcherStatus {
    return {
      pid: process.pid,
      started_at: this.#startedAt.toISOString(),
      directories: this.#watches.list(),
      idle_ms: this.#idleMs,
    }
  }

  /** Ends all watches and releases the home. Idempotent. */
  stop(): void {
    if (this.#isStopping) return
    this.#isStopping = true
    clearTimeout(this.#idle)
    this.#requests.close()
    this.#watches[Symbol.dispose]()
    try {
      removeRequests(this.#directory)
    } catch {
      // Clients see by the lock that nobody answers. The next watcher removes the directory.
    } finally {
      this.#lock[Symbol.dispose]()
      this.#resolveClosed()
    }
  }

  [Symbol.dispose](): void {
    this.stop()
  }

  #receive(name: string): void {
    if (!existsSync(this.#directory)) this.stop()
    if (this.#isStopping || !isRequestName(name)) return
    const { request, response } = getExchangeFiles(this.#directory, getExchangeName(name))
    const text = takeRequest(request)
    // Reported once more when it is removed.
    if (text === undefined) return
    this.#answer(text).then(
      (answer) => answer && writeExchangeFile(response, answer),
      // No request, or the watcher has stopped. The hook compares the directory itself.
      () => {},
    )
  }

  async #answer(text: string): Promise<WatcherStatus | WatchAnswer | undefined> {
    const request: WatcherRequest = JSON.parse(text)
    if (request.v === WATCHER_VERSION && request.method === 'status') return this.status
    if (request.v === WATCHER_VERSION && request.method === 'ask') {
      this.#idle.refresh()
      return this.#watches.ask(request.question)
    }
    if (typeof request.v === 'number') this.stop()
    return undefined
  }
}

/** Removes the directory of requests. It is moved away first, as clients may write into it meanwhile. */
function removeRequests(directory: string): void {
  const ended = `${directory}.ended`
  const removal = { recursive: true, force: true, maxRetries: 10, retryDelay: 1 } as const
  rmSync(ended, removal)
  if (existsSync(directory)) renameSync(directory, ended)
  rmSync(ended, removal)
}

/** Reads and removes a request; undefined if it is gone, or if root wrote it in the home of another user. */
function takeRequest(path: string): string | undefined {
  try {
    return readFileIfPresent(path)
  } catch {
    return undefined
  } finally {
    rmSync(path, { force: true })
  }
}
