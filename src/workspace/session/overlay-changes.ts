import type { BigIntStats } from 'node:fs'
import { join } from 'node:path'
import { factsOf, isTooDeep, isUntouched, putOf, unnameable } from './entry-facts.ts'
import { hostNames } from './host-names.ts'
import { LinkNames } from './link-names.ts'
import type { LockedEntries } from './locked-entries.ts'
import { opaqueDirectories } from './opaque-directories.ts'
import type { OverlayPlace } from './overlay-place.ts'
import type { SessionChange } from './session.ts'

/** What an upper tree says was changed of its base, read in O(changes). */
export async function overlayChanges(place: OverlayPlace, locked: LockedEntries): Promise<SessionChange[]> {
  return await new OverlayReading(place, locked, await opaqueDirectories(place, locked)).changes()
}

/** What is known of the directory that is read. */
interface Above {
  /** Nothing of the base is seen below here but what the upper tree has, too. */
  readonly isCut: boolean
  /** It is a directory in the base as well: below a link of the base there is nothing of it, wherever that leads. */
  readonly hasBase: boolean
}

class OverlayReading {
  readonly #place: OverlayPlace
  readonly #locked: LockedEntries
  readonly #opaque: ReadonlySet<string>
  readonly #links = new LinkNames()
  readonly #found: SessionChange[] = []

  constructor(place: OverlayPlace, locked: LockedEntries, opaque: ReadonlySet<string>) {
    this.#place = place
    this.#locked = locked
    this.#opaque = opaque
  }

  async changes(): Promise<SessionChange[]> {
    await this.#directory('', { isCut: false, hasBase: true })
    return this.#found
  }

  async #directory(path: string, above: Above): Promise<void> {
    const names = hostNames(join(this.#place.upper, path))
    for (const { name, raw } of names) {
      if (raw === undefined) await this.#entry(`${path}/${name}`, above)
      else this.#found.push(unnameable(`${path}/${name}`))
    }
    if (!above.isCut || !above.hasBase) return
    const kept = new Set(names.map(({ name }) => name))
    for (const { name } of hostNames(join(this.#place.lower, path))) {
      if (!kept.has(name)) this.#found.push({ kind: 'gone', path: `${path}/${name}` })
    }
  }

  async #entry(path: string, { isCut, hasBase }: Above): Promise<void> {
    const [host, base] = [join(this.#place.upper, path), join(this.#place.lower, path)]
    if (isTooDeep(host) || isTooDeep(base)) {
      this.#found.push(unnameable(path))
      return
    }
    const [facts, before] = [this.#locked.factsOf(host), hasBase ? factsOf(base) : undefined]
    if (facts === undefined) return
    if (isWhiteout(facts)) {
      if (before !== undefined) this.#found.push({ kind: 'gone', path })
      return
    }
    const linkOf = this.#links.earlier(path, facts)
    const isChanged = before === undefined || !isUntouched({ facts: before, host: base }, { facts, host })
    if (this.#links.isTold(path, isChanged, linkOf)) this.#found.push(putOf(path, host, facts, linkOf))
    const below = { isCut: isCut || this.#opaque.has(path), hasBase: before?.isDirectory() === true }
    if (facts.isDirectory()) await this.#directory(path, below)
  }
}

/** How an overlay marks that something of the base is gone. */
function isWhiteout(facts: BigIntStats): boolean {
  return facts.isCharacterDevice() && facts.rdev === 0n
}
