import { lstatSync, mkdirSync, readdirSync, renameSync, rmdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import {
  createProcessTag,
  hasExited,
  isErrno,
  loadCrypto,
  makePrivateDirectory,
  parseProcessTag,
} from '../../machine/index.ts'
import { HostFsFault } from './host-errors.ts'
import type { ConfinedPath } from './path-resolution.ts'

const MAX_BACKOFF_MS = 32
const TIMEOUT_MS = 30_000
/** Time in milliseconds after which a lock with an unknown owner is broken. A change takes milliseconds. */
const UNKNOWN_OWNER_TIMEOUT_MS = 60_000

/**
 * Locks on files between processes, as directories: a lock is held while its directory has an entry. A process acquires
 * it by renaming a directory with its own entry to it, which fails while another entry exists. A lock of a dead owner
 * is broken by removing its entry, which never affects a later lock.
 */
export class FileLocks {
  readonly #directory: string
  #hasSwept = false

  constructor(directory: string) {
    this.#directory = directory
  }

  /**
   * Returns the lock key of a file, the same for every path to it. Names that a case-insensitive disk treats as equal
   * share a key.
   */
  getKey({ directory, name }: ConfinedPath): string {
    const { dev, ino } = statSync(directory.at('.'))
    const plain = name.normalize('NFKC').toLowerCase()
    return loadCrypto().createHash('sha256').update(`${dev} ${ino} ${plain}`).digest('hex').slice(0, 32)
  }

  /** Runs a step while holding the locks of these files. EUNAVAILABLE after half a minute of waiting. */
  async hold<T>(
    keys: readonly string[],
    signal: AbortSignal | undefined,
    step: () => T | Promise<T>,
  ): Promise<T> {
    // Always in the same order, so that two processes cannot deadlock.
    const [key, ...others] = [...new Set(keys)].sort()
    if (key === undefined) return await step()
    const release = await this.#acquire(key, signal)
    try {
      return await this.hold(others, signal, step)
    } finally {
      release()
    }
  }

  async #acquire(key: string, signal: AbortSignal | undefined): Promise<() => void> {
    this.#removeAbandonedLocks()
    const [lock, entry] = [join(this.#directory, key), createProcessTag()]
    const prepared = this.#prepare(entry)
    try {
      await this.#install(prepared, lock, signal)
    } catch (error) {
      removeIfPossible(join(prepared, entry))
      removeIfPossible(prepared)
      throw error
    }
    return () => {
      removeIfPossible(join(lock, entry))
      removeIfPossible(lock)
    }
  }

  /** Removes the locks of dead processes, once. */
  #removeAbandonedLocks(): void {
    if (this.#hasSwept) return
    this.#hasSwept = true
    for (const name of listEntries(this.#directory)) {
      const lock = join(this.#directory, name)
      const entries = listEntries(lock)
      if (entries.length > 0 && listLiveEntries(lock).length === 0) removeIfPossible(lock)
    }
  }

  /** Creates the directory, with the entry of this process, that is renamed to the lock. */
  #prepare(entry: string): string {
    const prepared = join(this.#directory, `new-${loadCrypto().randomBytes(12).toString('hex')}`)
    try {
      mkdirSync(prepared)
    } catch (error) {
      if (!isErrno(error, 'ENOENT')) throw error
      makePrivateDirectory(this.#directory)
      mkdirSync(prepared)
    }
    mkdirSync(join(prepared, entry))
    return prepared
  }

  async #install(prepared: string, lock: string, signal: AbortSignal | undefined): Promise<void> {
    const deadline = performance.now() + TIMEOUT_MS
    for (let pause = 1; ; pause = Math.min(2 * pause, MAX_BACKOFF_MS)) {
      if (tryRename(prepared, lock)) return
      const owners = listLiveEntries(lock)
      if (owners.length === 0) continue
      if (performance.now() > deadline) throw createTimeoutFault(owners)
      await sleep(Math.random() * pause, signal)
    }
  }
}

function tryRename(from: string, to: string): boolean {
  try {
    renameSync(from, to)
    return true
  } catch (error) {
    if (isErrno(error, 'ENOTEMPTY', 'EEXIST')) return false
    throw error
  }
}

/** Returns the entries of a lock whose owners may be alive, and removes the others. */
function listLiveEntries(lock: string): string[] {
  return listEntries(lock).filter((entry) => {
    const path = join(lock, entry)
    if (!isAbandoned(entry, path)) return true
    removeIfPossible(path)
    return false
  })
}

function listEntries(lock: string): string[] {
  try {
    return readdirSync(lock)
  } catch (error) {
    // Released meanwhile.
    if (isErrno(error, 'ENOENT')) return []
    throw error
  }
}

function isAbandoned(entry: string, path: string): boolean {
  const owner = parseProcessTag(entry)
  const isDead = owner && hasExited(owner)
  if (isDead !== undefined) return isDead
  const stats = lstatSync(path, { throwIfNoEntry: false })
  return stats !== undefined && Date.now() - stats.mtimeMs > UNKNOWN_OWNER_TIMEOUT_MS
}

function removeIfPossible(directory: string): void {
  try {
    rmdirSync(directory)
  } catch {
    // Removed, or another process's lock by now. The next process breaks what is left.
  }
}

function createTimeoutFault(entries: readonly string[]): HostFsFault {
  const pids = entries.flatMap((entry) => parseProcessTag(entry)?.pid ?? []).join(', ')
  const owner = pids === '' ? 'another process' : `process ${pids}`
  return new HostFsFault('EUNAVAILABLE', `${owner} has been changing the file for too long; try again`)
}

async function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  try {
    await delay(ms, undefined, signal && { signal })
  } catch (error) {
    signal?.throwIfAborted()
    throw error
  }
}
