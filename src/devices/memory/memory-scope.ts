import type { DeviceContext } from '../../kernel/index.ts'
import type { FileSystem } from '../../vfs/index.ts'
import { type ScanFinding, scanText } from '../scanner/index.ts'
import { changeText, readTextIfPresent } from '../stored/index.ts'
import { formatMemory, type MemoryEntry, normalizeOrigin, normalizeText, parseMemory } from './memory-text.ts'

/** Storage of a scope and its limit in characters. */
export interface ScopeLocation {
  readonly fs: FileSystem
  readonly path: string
  readonly limit?: number
}

/** Scopes of the current project, of all projects, and of the person. */
export interface MemoryScopes {
  readonly memory: ScopeLocation
  readonly global_memory: ScopeLocation
  readonly user: ScopeLocation
}

/** Opens a scope for a caller. */
export type OpenScope = (name: keyof MemoryScopes, ctx: DeviceContext) => Promise<MemoryScope>

export const scopeNames: readonly (keyof MemoryScopes)[] = ['memory', 'global_memory', 'user']

/** Limits in characters, small enough to put a scope in front of a model as a whole. */
const memoryLimits: Readonly<Record<keyof MemoryScopes, number>> = {
  memory: 16_000,
  global_memory: 16_000,
  user: 8_000,
}

const titles: Readonly<Record<keyof MemoryScopes, string>> = {
  memory: 'What is known of this project',
  global_memory: 'What is known everywhere',
  user: 'What is known of the person',
}

/** Reason for a refusal, in words a model can act on. */
export class MemoryRefusal extends Error {}

/**
 * The entries of one scope. Several processes may change it at the same time. A change is refused with a
 * `MemoryRefusal` if it exceeds the limit, names no single entry, or has text that the scanner refuses.
 */
export class MemoryScope {
  readonly limit: number
  readonly name: keyof MemoryScopes
  readonly #fs: FileSystem
  readonly #path: string

  constructor(name: keyof MemoryScopes, { fs, path, limit = memoryLimits[name] }: ScopeLocation) {
    this.name = name
    this.limit = limit
    this.#fs = fs
    this.#path = path
  }

  async entries(): Promise<MemoryEntry[]> {
    return parseMemory((await readTextIfPresent(this.#fs, this.#path)) ?? '')
  }

  /** Adds an entry; returns false if it exists already. */
  async add(content: string, origin: string | undefined): Promise<boolean> {
    const added = this.#createEntry(content, origin)
    let isNew = true
    await this.#change((entries) => {
      isNew = entries.every(({ text }) => text !== added.text)
      return isNew ? [...entries, added] : entries
    })
    return isNew
  }

  /** Replaces a part of the only entry that contains it; returns the new entry. */
  async replace(old: string, replacement: string, origin: string | undefined): Promise<MemoryEntry> {
    let replaced: MemoryEntry = { text: '' }
    await this.#change((entries) => {
      const found = findEntry(old, entries)
      const text = found.text.replace(normalizeText(old), () => normalizeText(replacement))
      replaced = this.#createEntry(text, origin ?? found.origin)
      return entries.map((entry) => (entry === found ? replaced : entry))
    })
    return replaced
  }

  /** Removes an entry and returns it. */
  async remove(old: string): Promise<MemoryEntry> {
    let removed: MemoryEntry = { text: '' }
    await this.#change((entries) => {
      removed = findEntry(old, entries)
      return entries.filter((entry) => entry !== removed)
    })
    return removed
  }

  #createEntry(content: string, origin: string | undefined): MemoryEntry {
    const text = normalizeText(content)
    if (text === '') throw new MemoryRefusal('an entry has at least one word')
    if (text.length > this.limit) throw this.#createFullRefusal(text.length)
    const found = scanText(text, { isForeign: origin !== undefined }) ?? scanText(origin ?? '')
    if (found !== undefined) throw createScanRefusal(found, origin)
    return origin === undefined ? { text } : { text, origin: normalizeOrigin(origin) }
  }

  async #change(change: (entries: readonly MemoryEntry[]) => readonly MemoryEntry[]): Promise<void> {
    await changeText(this.#fs, this.#path, (markdown) => {
      const entries = parseMemory(markdown ?? '')
      const changed = change(entries)
      if (changed === entries) return null
      const used = countCharacters(changed)
      if (used > this.limit && used > countCharacters(entries)) throw this.#createFullRefusal(used)
      return formatMemory(titles[this.name], changed)
    })
  }

  #createFullRefusal(used: number): MemoryRefusal {
    return new MemoryRefusal(
      `that would be ${used} characters; the limit is ${this.limit}; remove or shorten old entries first`,
    )
  }
}

export function countCharacters(entries: readonly MemoryEntry[]): number {
  return entries.reduce((sum, { text }) => sum + text.length, 0)
}

/** Finds an entry by its whole text, or else by a part of it. */
function findEntry(old: string, entries: readonly MemoryEntry[]): MemoryEntry {
  const wanted = normalizeText(old)
  const whole = entries.filter(({ text }) => text === wanted)
  const found = whole.length > 0 ? whole : entries.filter(({ text }) => text.includes(wanted))
  const [first] = found
  if (wanted === '' || first === undefined) {
    throw new MemoryRefusal(
      `no entry contains ${JSON.stringify(wanted)}; the action snapshot shows all entries`,
    )
  }
  if (found.length === 1) return first
  throw new MemoryRefusal(`${found.length} entries contain ${JSON.stringify(wanted)}; give more of the text`)
}

function createScanRefusal({ kind, says }: ScanFinding, origin: string | undefined): MemoryRefusal {
  const from = origin === undefined ? '' : ` and comes from ${origin}`
  return new MemoryRefusal(
    `${kind}: the text was not stored, since ${says}${from}. State the fact in your own words`,
  )
}
