import type { BigIntStats } from 'node:fs'
import { join } from 'node:path'
import type { SessionChange } from '../command-session.ts'
import {
  createPut,
  createUnstorableChange,
  findEntryStats,
  isTooDeep,
  isUntouched,
} from '../entries/entry-stats.ts'
import { HardLinkNames } from '../entries/hard-link-names.ts'
import { listHostNames } from '../entries/host-names.ts'
import type { LockedEntries } from '../entries/locked-entries.ts'
import { findOpaqueDirectories } from './opaque-directories.ts'
import type { OverlayLayout } from './overlay-layout.ts'

/** Reads the changes of a base from its upper tree. O(changes). */
export async function readOverlayChanges(
  layout: OverlayLayout,
  locked: LockedEntries,
): Promise<SessionChange[]> {
  return await new OverlayChangeReader(layout, locked, await findOpaqueDirectories(layout, locked)).changes()
}

/** State of the directory that is read. */
interface ParentState {
  /** True if the base is hidden here: only entries of the upper tree are visible. */
  readonly isCut: boolean
  /** True if it is a directory in the base, too. Paths through a link of the base are not part of it. */
  readonly hasBase: boolean
}

class OverlayChangeReader {
  readonly #layout: OverlayLayout
  readonly #locked: LockedEntries
  readonly #opaque: ReadonlySet<string>
  readonly #links = new HardLinkNames()
  readonly #found: SessionChange[] = []

  constructor(layout: OverlayLayout, locked: LockedEntries, opaque: ReadonlySet<string>) {
    this.#layout = layout
    this.#locked = locked
    this.#opaque = opaque
  }

  async changes(): Promise<SessionChange[]> {
    await this.#readDirectory('', { isCut: false, hasBase: true })
    return this.#found
  }

  async #readDirectory(path: string, parent: ParentState): Promise<void> {
    const names = listHostNames(join(this.#layout.upper, path))
    for (const { name, raw } of names) {
      if (raw === undefined) await this.#readEntry(`${path}/${name}`, parent)
      else this.#found.push(createUnstorableChange(`${path}/${name}`))
    }
    if (!parent.isCut || !parent.hasBase) return
    const kept = new Set(names.map(({ name }) => name))
    for (const { name } of listHostNames(join(this.#layout.lower, path))) {
      if (!kept.has(name)) this.#found.push({ kind: 'gone', path: `${path}/${name}` })
    }
  }

  async #readEntry(path: string, { isCut, hasBase }: ParentState): Promise<void> {
    const [host, base] = [join(this.#layout.upper, path), join(this.#layout.lower, path)]
    if (isTooDeep(host) || isTooDeep(base)) {
      this.#found.push(createUnstorableChange(path))
      return
    }
    const [stats, before] = [this.#locked.unlockStats(host), hasBase ? findEntryStats(base) : undefined]
    if (stats === undefined) return
    if (isWhiteout(stats)) {
      if (before !== undefined) this.#found.push({ kind: 'gone', path })
      return
    }
    const linkOf = this.#links.findEarlier(path, stats)
    const isChanged = before === undefined || !isUntouched({ stats: before, host: base }, { stats, host })
    if (this.#links.shouldReport(path, isChanged, linkOf))
      this.#found.push(createPut(path, host, stats, linkOf))
    const directoryState = { isCut: isCut || this.#opaque.has(path), hasBase: before?.isDirectory() === true }
    if (stats.isDirectory()) await this.#readDirectory(path, directoryState)
  }
}

/** True for an overlay's mark of a deleted entry. */
function isWhiteout(stats: BigIntStats): boolean {
  return stats.isCharacterDevice() && stats.rdev === 0n
}
