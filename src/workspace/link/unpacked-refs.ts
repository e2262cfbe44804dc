import { findPackedRefsPath, parseGitPath, parsePackedRefs, toLooseRefPath } from '../../git-files/index.ts'
import { sortChanges, type TreeChange } from './compare-trees.ts'
import { type FindEntry, readCommitId } from './git-commits.ts'
import { createFileEntry, isSameEntry, type LinkEntry, readEntry } from './link-entry.ts'

const MAX_LOG_BYTES = 64 * 2 ** 20
/** The last line of a reflog: the ids before and after a move. */
const LAST_MOVE = /(?:^|\n)[0-9a-f]+ ([0-9a-f]+) [^\n]*\n?$/

/** True if two states of a path are equal. Those of a ref are if they name one commit, whatever their permissions. */
export function isSameState(path: string, one: LinkEntry | undefined, other: LinkEntry | undefined): boolean {
  if (isSameEntry(one, other)) return true
  if (one?.type !== 'file' || other?.type !== 'file' || findPackedRefsPath(path) === undefined) return false
  const id = readCommitId(one)
  return id !== undefined && id === readCommitId(other)
}

/** Reads refs of a tree as git does: the loose file of a ref, otherwise its line in `packed-refs`. */
export class UnpackedRefs {
  readonly #find: FindEntry
  readonly #packed = new Map<string, ReadonlyMap<string, string> | undefined>()

  constructor(find: FindEntry) {
    this.#find = find
  }

  /** Returns a ref of `packed-refs` as a loose file; undefined if it is not packed. */
  findPacked(path: string): LinkEntry | undefined {
    const file = findPackedRefsPath(path)
    const id = file && this.list(file)?.get(parseGitPath(path)?.name ?? '')
    const attributes = id && file ? this.#find(file) : undefined
    return attributes && createFileEntry(attributes, Buffer.from(`${id}\n`))
  }

  /** Lists the refs in a file with packed refs, none if it is missing. Undefined if it cannot be read as one. */
  list(file: string): ReadonlyMap<string, string> | undefined {
    if (!this.#packed.has(file)) this.#packed.set(file, readPackedRefs(this.#find(file)))
    return this.#packed.get(file)
  }
}

/** The trees between which refs changed. */
export interface RefTrees {
  readonly before: FindEntry
  readonly after: FindEntry
  /** The directory, from which the trees have what they know. */
  readonly directory?: FindEntry
}

/**
 * Replaces changes of packed refs by those of loose ones: git may move a ref between the two, which is no change of it.
 * A repository that is created or removed as a whole keeps its changes.
 */
export function unpackRefChanges(changes: readonly TreeChange[], trees: RefTrees): TreeChange[] {
  if (!changes.some(({ path }) => isRefOrPackedRefs(path))) return [...changes]
  return new RefUnpacker(changes, trees).unpack()
}

class RefUnpacker {
  readonly #changes: readonly TreeChange[]
  readonly #before: UnpackedRefs
  readonly #after: UnpackedRefs
  readonly #directory: UnpackedRefs
  readonly #trees: RefTrees
  /** Changed paths, among them repositories that were created or removed. */
  readonly #byPath: ReadonlyMap<string, TreeChange>

  constructor(changes: readonly TreeChange[], trees: RefTrees) {
    this.#changes = changes
    this.#trees = trees
    this.#before = new UnpackedRefs(trees.before)
    this.#after = new UnpackedRefs(trees.after)
    this.#directory = new UnpackedRefs(trees.directory ?? (() => undefined))
    this.#byPath = new Map(changes.map((change) => [change.path, change]))
  }

  unpack(): TreeChange[] {
    const unpacked = this.#changes.flatMap((change) => this.#replace(change))
    const isSame =
      unpacked.length === this.#changes.length && unpacked.every((each, at) => each === this.#changes[at])
    return isSame ? unpacked : sortChanges(unpacked)
  }

  #replace(change: TreeChange): TreeChange[] {
    const { path } = change
    const git = parseGitPath(path)
    if (git === undefined || this.#isWhole(git.root)) return [change]
    if (git.part === 'packed-refs') return this.#listRefs(change)
    const file = findPackedRefsPath(path)
    if (file === undefined || !this.#isReadable(file) || isLinkChange(change)) return [change]
    // An empty directory may be left at the path of a packed ref.
    const isLoose = (entry: LinkEntry | undefined) => entry?.type === 'file'
    const before = isLoose(change.before) ? change.before : (this.#findBefore(path) ?? change.before)
    const after = isLoose(change.after) ? change.after : (this.#after.findPacked(path) ?? change.after)
    if (before === change.before && after === change.after) return [change]
    if (isSameState(path, before, after)) return hasDirectory(change) ? [change] : []
    return [{ ...change, before, after }]
  }

  #findBefore(path: string): LinkEntry | undefined {
    return this.#before.findPacked(path) ?? this.#findLogged(path)
  }

  /** Lists the refs that changed in a file with packed refs, and in no loose file. */
  #listRefs(change: TreeChange): TreeChange[] {
    const { path: file } = change
    const [olds, currents] = [this.#before.list(file), this.#after.list(file)]
    if (olds === undefined || currents === undefined) return [change]
    return [...new Set([...olds.keys(), ...currents.keys()])].flatMap((name) => {
      const path = toLooseRefPath(file, name)
      if (olds.get(name) === currents.get(name) || this.#byPath.has(path)) return []
      // A loose ref wins, and one that changed without being in the list is not wanted.
      if (this.#trees.before(path)?.type === 'file' || this.#trees.after(path)?.type === 'file') return []
      return { path, before: this.#before.findPacked(path), after: this.#after.findPacked(path) }
    })
  }

  /**
   * Returns the earlier state of a ref that is packed in the directory, by its reflog. A fork that never touched
   * `packed-refs` does not have it otherwise.
   */
  #findLogged(path: string): LinkEntry | undefined {
    const { store = '', name = '' } = parseGitPath(path) ?? {}
    const packed = this.#directory.findPacked(path)
    const log = packed && this.#trees.before(`${store}/logs/${name}`)
    if (log?.type !== 'file' || log.size > MAX_LOG_BYTES) return undefined
    const [, id] = LAST_MOVE.exec(Buffer.from(readEntry(log)).toString('latin1')) ?? []
    return packed && id && !/^0+$/.test(id) ? createFileEntry(packed, Buffer.from(`${id}\n`)) : undefined
  }

  #isWhole(root: string): boolean {
    const change = this.#byPath.get(root)
    return change !== undefined && (change.before?.type !== 'directory' || change.after?.type !== 'directory')
  }

  #isReadable(file: string): boolean {
    return this.#before.list(file) !== undefined && this.#after.list(file) !== undefined
  }
}

function isRefOrPackedRefs(path: string): boolean {
  return findPackedRefsPath(path) !== undefined || parseGitPath(path)?.part === 'packed-refs'
}

function isLinkChange({ before, after }: TreeChange): boolean {
  return before?.type === 'symlink' || after?.type === 'symlink'
}

function hasDirectory({ before, after }: TreeChange): boolean {
  return before?.type === 'directory' || after?.type === 'directory'
}

function readPackedRefs(entry: LinkEntry | undefined): ReadonlyMap<string, string> | undefined {
  if (entry === undefined) return new Map()
  return entry.type === 'file' ? parsePackedRefs(readEntry(entry)) : undefined
}
