import { randomUUID } from 'node:crypto'
import { type FSWatcher, lstatSync, readdirSync, watch } from 'node:fs'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { isErrno } from '../../machine/index.ts'
import type { ScanRules } from '../events/index.ts'

/** Every directory takes one watch of the system, which other programs need too. */
const MAX_DIRECTORIES = 20_000
/** The system drops events once 16,384 wait, and Node does not say so. */
const MAX_EVENTS_OF_A_TURN = 8_192
/** Directories that are watched before the daemon looks at its clients again. */
const BATCH = 100
/** Files that decide what is recorded. */
const RULE_FILES = /\/\.gitignore$|^\/\.git(?:\/HEAD|\/info\/exclude)?$/

/** Counts the changes of recorded paths in a directory, by events of the system. */
export class WatchedDirectory implements Disposable {
  readonly #root: string
  readonly #rules: ScanRules
  readonly #inode: number
  readonly #id = randomUUID()
  /** By path below the root, which is ''. */
  readonly #watchers = new Map<string, FSWatcher>()
  /** Recorded files whose names are excluded for directories: one that takes such a name is a change. */
  readonly #builtNames = new Set<string>()
  #state: 'starting' | 'complete' | 'ended' = 'starting'
  #hasFailed = false
  #changes = 0
  #eventsOfTurn = 0

  private constructor(root: string, rules: ScanRules) {
    this.#root = root
    this.#rules = rules
    this.#inode = lstatSync(root).ino
  }

  /** Begins to watch a directory. It takes a while until all of it is. */
  static start(root: string, rules: ScanRules): WatchedDirectory {
    const watched = new WatchedDirectory(root, rules)
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
    return this.#state !== 'ended' && lstatSync(this.#root, { throwIfNoEntry: false })?.ino === this.#inode
  }

  /** True if the system has too few watches for it, or it is too large. */
  get hasFailed(): boolean {
    return this.#hasFailed
  }

  [Symbol.dispose](): void {
    this.#state = 'ended'
    for (const watcher of this.#watchers.values()) watcher.close()
    this.#watchers.clear()
  }

  async #watchTree(root: string): Promise<void> {
    const pending = [root]
    for (let count = 1; pending.length > 0 && this.#state === 'starting'; count++) {
      pending.push(...this.#watch(pending.pop() ?? ''))
      if (count % BATCH === 0) await nextTurn()
    }
    if (this.#state === 'starting') this.#state = 'complete'
  }

  /** Watches one directory and returns the paths of those in it. It returns none if the directory is gone or closed to this user. */
  #watch(path: string): string[] {
    if (this.#watchers.size >= MAX_DIRECTORIES) throw new Error('too many directories to watch')
    try {
      const watcher = watch(this.#root + path, { persistent: false }, (kind, name) =>
        this.#receive(kind, path, name),
      )
      watcher.on('error', () => this[Symbol.dispose]())
      this.#watchers.set(path, watcher)
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
      for (const [known, watcher] of this.#watchers) {
        if (known !== path && !known.startsWith(`${path}/`)) continue
        watcher.close()
        this.#watchers.delete(known)
      }
    const pending = isWatchable ? [path] : []
    while (pending.length > 0) pending.push(...this.#watch(pending.pop() ?? ''))
  }
}
