import type { BigIntStats } from 'node:fs'
import { join } from 'node:path'
import { isWithin } from '../../vfs/index.ts'
import type { TreeFacts } from './dir-copy.ts'
import { isTooDeep, isUntouched, putOf, unnameable } from './entry-facts.ts'
import { factsOfName, hostNames } from './host-names.ts'
import { LinkNames } from './link-names.ts'
import type { LockedEntries } from './locked-entries.ts'
import type { SessionChange } from './session.ts'

/** A copy of a directory, and what it held before the first command. */
export interface DirCopy {
  readonly root: string
  readonly lower: string
  readonly before: TreeFacts
  /** Paths of the original that the copy has only stand-ins of: what is done to those cannot be kept. */
  readonly hidden: readonly string[]
}

/** What was changed in a copy of a directory. O(files). */
export async function dirChanges(copy: DirCopy, locked: LockedEntries): Promise<SessionChange[]> {
  return await new DirReading(copy, locked).changes()
}

class DirReading {
  readonly #copy: DirCopy
  readonly #locked: LockedEntries
  readonly #links = new LinkNames()
  readonly #found: SessionChange[] = []

  constructor(copy: DirCopy, locked: LockedEntries) {
    this.#copy = copy
    this.#locked = locked
  }

  async changes(): Promise<SessionChange[]> {
    await this.#directory('')
    return this.#found
  }

  async #directory(path: string): Promise<void> {
    const directory = join(this.#copy.root, path)
    const names = hostNames(directory)
    const before = this.#copy.before.get(path)
    for (const name of names) {
      const was = before?.get(name.name)
      const isKeepable = name.raw === undefined && !this.#isHidden(`${path}/${name.name}`)
      if (isKeepable) await this.#entry(`${path}/${name.name}`, was)
      else if (was === undefined || was.ctimeNs !== factsOfName(directory, name)?.ctimeNs)
        this.#found.push(unnameable(`${path}/${name.name}`))
    }
    const kept = new Set(names.map(({ name }) => name))
    for (const name of [...(before?.keys() ?? [])].sort()) {
      if (!kept.has(name)) this.#gone(`${path}/${name}`)
    }
  }

  /** What is around a hidden place stays with it; what is beside that is gone. */
  #gone(path: string): void {
    if (this.#isHidden(path)) return
    if (!this.#isAroundHidden(path)) {
      this.#found.push({ kind: 'gone', path })
      return
    }
    for (const name of [...(this.#copy.before.get(path)?.keys() ?? [])].sort()) this.#gone(`${path}/${name}`)
  }

  async #entry(path: string, before: BigIntStats | undefined): Promise<void> {
    const host = join(this.#copy.root, path)
    if (isTooDeep(host)) {
      this.#found.push(unnameable(path))
      return
    }
    const facts = this.#locked.factsOf(host)
    if (facts === undefined) return
    if (!facts.isDirectory() && this.#isAroundHidden(path)) {
      // It would take the place of a directory in which something is hidden.
      this.#found.push(unnameable(path))
      return
    }
    const linkOf = this.#links.earlier(path, facts)
    const isChanged = before === undefined || !this.#isUntouched(path, before, facts)
    if (this.#links.isTold(path, isChanged, linkOf)) this.#found.push(putOf(path, host, facts, linkOf))
    if (facts.isDirectory()) await this.#directory(path)
  }

  #isHidden(path: string): boolean {
    return this.#copy.hidden.some((hidden) => isWithin(path, hidden))
  }

  #isAroundHidden(path: string): boolean {
    return this.#copy.hidden.some((hidden) => isWithin(hidden, path))
  }

  /** Whatever is done to an entry sets its change time, which no program can set back. */
  #isUntouched(path: string, before: BigIntStats, now: BigIntStats): boolean {
    if (before.ino === now.ino && before.ctimeNs === now.ctimeNs) return true
    const lower = join(this.#copy.lower, path)
    return isUntouched({ facts: before, host: lower }, { facts: now, host: join(this.#copy.root, path) })
  }
}
