import { randomUUID } from 'node:crypto'
import { type FSWatcher, lstatSync, readdirSync, watch } from 'node:fs'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { isErrno } from '../../machine/index.ts'
import { getDirectoryIdentity, type ScanRules } from '../events/index.ts'
import type { WatchBudget } from './watch-budget.ts'

/** The system drops events once 16,384 wait, and Node does not say so. */
const MAX_EVENTS_OF_A_TURN = 8_192
/** Directories that are watched before the program looks at its clients again. */
const BATCH = 100
/** Files that decide what is recorded. */
const RULE_FILES = /\/\.gitignore$|^\/\.git(?:\/HEAD|\/info\/exclude)?$/

/** Counts the changes of recorded paths in a directory, by events of the system. */
export class WatchedDirectory implements Disposable {
  readonly #root: string
  readonly #rules: ScanRules
  readonly #budget: WatchBudget
  readonly #identity: string | undefined
  readonly #id = randomUUID()
  /** By path below the root; that of the root itself is ''. */
  readonly #watchers = new Map<string, FSWatcher>()
  /** Recorded files whose names are excluded for directories: one that takes such a name is a change. */
  readonly #builtNames = new Set<string>()
  #state: 'starting' | 'complete' | 'ended' = 'starting'
  #hasFailed = false
  #changes = 0
  #eventsOfTurn = 0

  private constructor(root: string, rules: ScanRules, budget: WatchBudget) {
    this.#root = root
    this.#rules = rules
    this.#budget = budget
    this.#identity = getDirectoryIdentity(root)
  }

  /** Begins to watch a directory. It takes a while until all of it is. */
  static start(root: string, rules: ScanRules, budget: WatchBudget): WatchedDirectory {
    const watched = new WatchedDirectory(root, rules, budget)
    watched.#watchTree('').catch(() => {
      watched[Symbol.dispose]()
      watched.#hasFailed = true
    })
    return watched
  }

  /** Identifies the state of the directory: the same mark, the same state. Undefined while that is not known. */
  get mark(): string | undefined {
    return this.#state === 'complete' ? `${this.#id}-${this.#changes}` : undefined
  }

  /** False once something happened that it cannot follow. */
  get isUsable(): boolean {
    return this.#state !== 'ended' && getDirectoryIdentity(this.#root) === this.#identity
  }

  /** True if the system has too few watches for it, or it is too large. */
  get hasFailed(): boolean {
    return this.#hasFailed
  }

  [Symbol.dispose](): void {
    this.#state = 'ended'
    for (const path of this.#watchers.keys()) this.#unwatch(path)
  }

  async #watchTree(root: string): Promise<void> {
    const pending = [root]
    for (let count = 1; pending.length > 0 && this.#state === 'starting'; count++) {
      pending.push(...this.#watch(pending.pop() ?? ''))
      if (count % BATCH === 0) await nextTurn()
    }
    if (this.#state === 'starting') this.#state = 'complete'
  }

  /**
   * Watches one directory and returns the paths of those in it. Returns none if the directory is watched already, gone
   * or closed to this user.
   */
  #watch(path: string): string[] {
    // An event may have come before a pending directory had its turn.
    if (this.#watchers.has(path)) return []
    try {
      this.#watchEntries(path)
      // After the watch began, so that a new directory is in the list or an event.
      const entries = readdirSync(this.#root + path, { withFileTypes: true })
      for (const entry of entries) this.#noteType(`${path}/${entry.name}`, entry.isDirectory())
      return entries
        .filter((entry) => entry.isDirectory() && !this.#rules.isExcluded(`${path}/${entry.name}`, true))
        .map(({ name }) => `${path}/${name}`)
    } catch (error) {
      if (isErrno(error, 'ENOENT', 'ENOTDIR', 'EACCES', 'EPERM', 'ELOOP')) return []
      throw error
    }
  }

  /** Begins to count the changes of the entries of one directory. */
  #watchEntries(path: string): void {
    if (!this.#budget.take()) throw new Error('too many directories to watch')
    try {
      const receive = (kind: string, name: string | null) => this.#receive(kind, path, name)
      const watcher = watch(this.#root + path, { persistent: false }, receive)
      watcher.on('error', () => this[Symbol.dispose]())
      this.#watchers.set(path, watcher)
    } catch (error) {
      this.#budget.giveBack()
      throw error
    }
  }

  #unwatch(path: string): void {
    this.#watchers.get(path)?.close()
    if (this.#watchers.delete(path)) this.#budget.giveBack()
  }

  #receive(kind: string, directory: string, name: string | null): void {
    if (this.#state === 'ended') return
    if (this.#eventsOfTurn++ === 0) setImmediate(() => (this.#eventsOfTurn = 0))
    try {
      if (this.#eventsOfTurn > MAX_EVENTS_OF_A_TURN) this[Symbol.dispose]()
      else if (name === null) this.#changes++
      else this.#follow(kind, `${directory}/${name}`)
    } catch {
      // The next answer is "changed", and the directory is watched anew.
      this[Symbol.dispose]()
    }
  }

  #follow(kind: string, path: string): void {
    const entry = lstatSync(this.#root + path, { throwIfNoEntry: false })
    const wasRecorded = this.#builtNames.has(path)
    if (entry !== undefined) this.#noteType(path, entry.isDirectory())
    if (!wasRecorded && this.#isExcluded(path, entry?.isDirectory())) return
    this.#changes++
    const isWatchable = entry?.isDirectory() === true && !this.#rules.isExcluded(path, true)
    if (RULE_FILES.test(path)) this[Symbol.dispose]()
    // A directory without a watch was closed to this user.
    else if (kind === 'rename' || (isWatchable && !this.#watchers.has(path)))
      this.#watchAgain(path, isWatchable)
  }

  #noteType(path: string, isDirectory: boolean): void {
    if (isDirectory) this.#builtNames.delete(path)
    else if (this.#rules.isExcluded(path, true) && !this.#rules.isExcluded(path, false))
      this.#builtNames.add(path)
  }

  /** Of a removed entry the type is not known. */
  #isExcluded(path: string, isDirectory: boolean | undefined): boolean {
    if (isDirectory !== undefined) return this.#rules.isExcluded(path, isDirectory)
    return this.#rules.isExcluded(path, true) && this.#rules.isExcluded(path, false)
  }

  /** A name may stand for another directory now, or for none. */
  #watchAgain(path: string, isWatchable: boolean): void {
    if (this.#watchers.has(path))
      for (const known of this.#watchers.keys())
        if (known === path || known.startsWith(`${path}/`)) this.#unwatch(known)
    const pending = isWatchable ? [path] : []
    while (pending.length > 0) pending.push(...this.#watch(pending.pop() ?? ''))
  }
}
