import { isErrno } from '../machine/index.ts'
import { createFileEntry, HostTree, isSameEntry, type LinkEntry, readEntry } from '../workspace/link/index.ts'
import { attributeChange, type ChangeAuthor } from './attribute-change.ts'
import type { ChangeWindow, DirectoryScan, UndoRules } from './events/index.ts'
import type { NewState, TimelineVault } from './timeline-record.ts'

/** The baseline and adopted paths, which belong to no record, are committed in batches of this size. */
const BATCH_BYTES = 32 * 1024 * 1024

/** Changes of one author. */
interface AuthorChanges {
  readonly author: ChangeAuthor
  readonly states: NewState[]
  readonly skipped: string[]
}

/** Records the directory at the paths that a scan found. Content is read by descriptor, and no link is followed. */
export class DirectoryRecorder {
  readonly #directory: string
  readonly #vault: TimelineVault
  readonly #rules: UndoRules

  constructor(directory: string, vault: TimelineVault, rules: UndoRules) {
    this.#directory = directory
    this.#vault = vault
    this.#rules = rules
  }

  /**
   * Records changed paths, each author's in a record of its own. The first time it only stores the directory as the
   * baseline. Adopted paths, which the rules left out until now, are stored without a record: nobody changed them.
   */
  record({ touched, adopted }: DirectoryScan, window: ChangeWindow): void {
    if (!this.#vault.hasBaseline) {
      this.#store(touched)
      this.#vault.finishBaseline()
      return
    }
    const isAdopted = (path: string) => adopted.some((top) => path === top || path.startsWith(`${top}/`))
    this.#store(touched.filter(isAdopted))
    for (const { author, states, skipped } of this.#groupByAuthor(touched, isAdopted, window)) {
      this.#vault.addRecord({ ...author, ...(skipped.length > 0 && { skipped }) }, states)
    }
  }

  #groupByAuthor(
    touched: readonly string[],
    isAdopted: (path: string) => boolean,
    window: ChangeWindow,
  ): Iterable<AuthorChanges> {
    const groups = new Map<string, AuthorChanges>()
    using tree = new HostTree(this.#directory)
    for (const path of new Set(touched)) {
      if (isAdopted(path)) continue
      const state = this.#readChange(tree, path)
      if (state === 'same') continue
      const author = attributeChange(this.#directory + path, window)
      const key = author.by === 'person' ? author.by : `${author.call.prompt}.${author.call.number}`
      const group = groups.get(key) ?? { author, states: [], skipped: [] }
      groups.set(key, group)
      if (state === 'skipped') group.skipped.push(path)
      else group.states.push(state)
    }
    return groups.values()
  }

  /** Reads a path that may have changed. A file that is too large or unreadable is skipped. */
  #readChange(tree: HostTree, path: string): NewState | 'same' | 'skipped' {
    try {
      const entry = tree.findEntry(path)
      const recorded = this.#vault.findLatest(path)
      if (entry === undefined || entry.type === 'other')
        return recorded === undefined ? 'same' : { path, after: undefined }
      if (entry.type === 'file' && this.#rules.isTooLarge(path, entry.size)) return 'skipped'
      const after = loadContent(entry)
      return isSameEntry(recorded, after) ? 'same' : { path, after }
    } catch (error) {
      // Removed since it was looked up: the next scan finds that.
      if (isErrno(error, 'ENOENT')) return 'same'
      if (isErrno(error, 'EACCES', 'EPERM', 'ELOOP')) return 'skipped'
      throw error
    }
  }

  /** Stores the current state of paths, in no record. */
  #store(paths: readonly string[]): void {
    using tree = new HostTree(this.#directory)
    let [batch, bytes]: [NewState[], number] = [[], 0]
    for (const path of paths) {
      const state = this.#readChange(tree, path)
      if (typeof state === 'string') continue
      batch.push(state)
      bytes += state.after?.size ?? 0
      if (bytes < BATCH_BYTES) continue
      this.#vault.setLatest(batch)
      batch = []
      bytes = 0
    }
    this.#vault.setLatest(batch)
  }
}

/** Reads a file now, so that it cannot change between the comparison and the commit. */
function loadContent(entry: LinkEntry): LinkEntry {
  return entry.type === 'file' ? createFileEntry(entry, readEntry(entry)) : entry
}
