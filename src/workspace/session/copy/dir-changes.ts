import { join } from 'node:path'
import { isWithin } from '../../../vfs/index.ts'
import type { SessionChange } from '../command-session.ts'
import {
  type ComparedStats,
  createPut,
  createUnstorableChange,
  isTooDeep,
  isUntouched,
} from '../entries/entry-stats.ts'
import { HardLinkNames } from '../entries/hard-link-names.ts'
import { findStatsByName, listHostNames } from '../entries/host-names.ts'
import type { LockedEntries } from '../entries/locked-entries.ts'
import type { TreeStats } from './dir-copy.ts'

/** A copy of a directory, and its stats before the first command. */
export interface DirCopy {
  readonly root: string
  readonly lower: string
  readonly before: TreeStats
  /** Hidden paths, for which the copy has stand-ins. Changes of these cannot be kept. */
  readonly hidden: readonly string[]
}

/** Returns the changes in a copy of a directory. O(files). */
export async function readDirChanges(copy: DirCopy, locked: LockedEntries): Promise<SessionChange[]> {
  return await new DirChangeReader(copy, locked).changes()
}

class DirChangeReader {
  readonly #copy: DirCopy
  readonly #locked: LockedEntries
  readonly #links = new HardLinkNames()
  readonly #found: SessionChange[] = []

  constructor(copy: DirCopy, locked: LockedEntries) {
    this.#copy = copy
    this.#locked = locked
  }

  async changes(): Promise<SessionChange[]> {
    await this.#readDirectory('')
    return this.#found
  }

  async #readDirectory(path: string): Promise<void> {
    const directory = join(this.#copy.root, path)
    const names = listHostNames(directory)
    const before = this.#copy.before.get(path)
    for (const name of names) {
      const oldStats = before?.get(name.name)
      const isKeepable = name.raw === undefined && !this.#isHidden(`${path}/${name.name}`)
      if (isKeepable) await this.#readEntry(`${path}/${name.name}`, oldStats)
      else if (oldStats === undefined || oldStats.ctimeNs !== findStatsByName(directory, name)?.ctimeNs)
        this.#found.push(createUnstorableChange(`${path}/${name.name}`))
    }
    const kept = new Set(names.map(({ name }) => name))
    for (const name of [...(before?.keys() ?? [])].sort()) {
      if (!kept.has(name)) this.#addGone(`${path}/${name}`)
    }
  }

  /** Reports a removal. Directories around a hidden path stay; only the rest is removed. */
  #addGone(path: string): void {
    if (this.#isHidden(path)) return
    if (!this.#isAroundHidden(path)) {
      this.#found.push({ kind: 'gone', path })
      return
    }
    for (const name of [...(this.#copy.before.get(path)?.keys() ?? [])].sort())
      this.#addGone(`${path}/${name}`)
  }

  async #readEntry(path: string, before: ComparedStats | undefined): Promise<void> {
    const host = join(this.#copy.root, path)
    if (isTooDeep(host)) {
      this.#found.push(createUnstorableChange(path))
      return
    }
    const stats = this.#locked.unlockStats(host)
    if (stats === undefined) return
    if (!stats.isDirectory() && this.#isAroundHidden(path)) {
      // It would replace a directory with a hidden path.
      this.#found.push(createUnstorableChange(path))
      return
    }
    const linkOf = this.#links.findEarlier(path, stats)
    const isChanged = before === undefined || !this.#isUntouched(path, before, stats)
    if (this.#links.shouldReport(path, isChanged, linkOf))
      this.#found.push(createPut(path, host, stats, linkOf))
    if (stats.isDirectory()) await this.#readDirectory(path)
  }

  #isHidden(path: string): boolean {
    return this.#copy.hidden.some((hidden) => isWithin(path, hidden))
  }

  #isAroundHidden(path: string): boolean {
    return this.#copy.hidden.some((hidden) => isWithin(hidden, path))
  }

  /** Compares change times first: every change sets them, and no program can set them back. */
  #isUntouched(path: string, before: ComparedStats, current: ComparedStats): boolean {
    if (before.ino === current.ino && before.ctimeNs === current.ctimeNs) return true
    const lower = join(this.#copy.lower, path)
    return isUntouched({ stats: before, host: lower }, { stats: current, host: join(this.#copy.root, path) })
  }
}
