import { type DirectoryEntry, type EngineReader, type Files, statOf } from '../../store/index.ts'
import { child, type DirEntry, type Stat, type WalkEntry, type WalkOptions } from '../../vfs/index.ts'

type NamedEntry = { readonly name: string } & DirectoryEntry

/** How many names are taken from a directory at once: enough to be quick, few enough to hold. */
const NAMES_AT_ONCE = 512

/** A tree of files that does not change meanwhile, and the reader that fetches what is far away. */
export interface Snapshot {
  readonly files: Files
  readonly reader: EngineReader
}

/** The names in a directory, in order. */
export async function* listDirectory(snapshot: Snapshot, directory: number): AsyncGenerator<DirEntry> {
  const listing = new Listing(snapshot, directory)
  for (let entry = await listing.next(); entry; entry = await listing.next()) {
    yield { name: entry.name, type: entry.type }
    // What is at hand needs no waiting.
    for (let more = listing.atHand(); more; more = listing.atHand())
      yield { name: more.name, type: more.type }
  }
}

/** Depth first, without recursion, so deep trees are fine. */
export async function* walkFiles(
  snapshot: Snapshot,
  root: string,
  start: number,
  { maxDepth = Number.POSITIVE_INFINITY, includeDirs = false }: WalkOptions,
): AsyncGenerator<WalkEntry> {
  if (maxDepth < 1) return
  const levels = [{ path: root, listing: new Listing(snapshot, start) }]
  for (let level = levels.at(-1); level; level = levels.at(-1)) {
    const entry = level.listing.atHand() ?? (await level.listing.next())
    if (entry === undefined) {
      levels.pop()
      continue
    }
    const path = child(level.path, entry.name)
    if (entry.type !== 'directory' || includeDirs) {
      const stat = statAt(snapshot, entry.inode)
      yield { path, stat: stat instanceof Promise ? await stat : stat }
    }
    if (entry.type === 'directory' && levels.length < maxDepth) {
      levels.push({ path, listing: new Listing(snapshot, entry.inode) })
    }
  }
}

function statAt({ files, reader }: Snapshot, number: number): Stat | Promise<Stat> {
  return reader.resolve(() => statOf(files.inode(number)))
}

/** The names of one directory, some at a time. */
class Listing {
  readonly #snapshot: Snapshot
  readonly #directory: number
  #names: NamedEntry[] = []
  #at = 0
  #last: string | undefined
  #isDone = false

  constructor(snapshot: Snapshot, directory: number) {
    this.#snapshot = snapshot
    this.#directory = directory
  }

  atHand(): NamedEntry | undefined {
    return this.#names[this.#at++]
  }

  async next(): Promise<NamedEntry | undefined> {
    if (this.#isDone) return undefined
    const { files, reader } = this.#snapshot
    const names = reader.resolve(() => this.#take(files))
    this.#names = names instanceof Promise ? await names : names
    this.#at = 0
    this.#last = this.#names.at(-1)?.name
    this.#isDone = this.#names.length < NAMES_AT_ONCE
    return this.atHand()
  }

  #take(files: Files): NamedEntry[] {
    const names: NamedEntry[] = []
    for (const entry of files.entries(this.#directory, this.#last)) {
      if (entry.name === this.#last) continue
      if (names.push(entry) === NAMES_AT_ONCE) break
    }
    return names
  }
}
