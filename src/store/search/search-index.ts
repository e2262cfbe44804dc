import { isVfsError, VfsError } from '../../vfs/index.ts'
import type { Answer } from '../engine.ts'
import { Files, ROOT_INODE } from '../files/files.ts'
import type { Hold } from '../sessions/session.ts'
import type { NodeRef } from '../tree/node.ts'
import type { TreeValue } from '../tree/records.ts'
import { Tree } from '../tree/tree.ts'
import { candidatesOf } from './candidates.ts'
import { type Coverage, coverageOf } from './coverage.ts'
import { FilePaths, sortedAsWalked } from './file-paths.ts'
import { FileWalk, type FoundFile } from './file-walk.ts'
import { IndexUpdate } from './index-update.ts'
import type { HeldTree, IndexWriterParts } from './index-writer.ts'
import { isUncovered, isWornOut, type LookUp } from './look-up.ts'
import type { Need } from './need.ts'
import { Turns } from './turns.ts'

export interface SearchIndexParts extends IndexWriterParts {
  /** The whole content of a file. */
  readonly readFile: (files: Files, number: number) => Uint8Array
  readonly limits?: Partial<SearchLimits>
}

export interface SearchLimits {
  /** A search that reads more files, or more bytes, that the index does not cover brings it up to date. */
  readonly staleFiles: number
  readonly staleBytes: number
  /** Up to so many files are looked up one by one and sorted; more are met in a walk. */
  readonly fewFiles: number
}

const LIMITS: SearchLimits = { staleFiles: 512, staleBytes: 8 * 1024 * 1024, fewFiles: 4096 }

/** The tree a search looks into, and how it is stored: without `fold`, the search leaves the index as it is. */
export interface SearchedTree {
  readonly root: NodeRef<TreeValue>
  /** Keeps it from collection until the search is done. */
  readonly hold?: Hold
  /** Stores the vault's tree as it is by now. */
  readonly fold?: () => Answer<HeldTree>
}

export interface FileContent extends FoundFile {
  readonly bytes: Uint8Array
}

/** Finds the files of a vault that are worth reading, and indexes what it had to read without being told so. */
export class SearchIndex {
  readonly #parts: SearchIndexParts
  readonly #limits: SearchLimits
  #isUpdating = false
  #lastCoverage: { covers: number; root: NodeRef<TreeValue>; coverage: Coverage } | undefined

  constructor(parts: SearchIndexParts) {
    this.#parts = parts
    this.#limits = { ...LIMITS, ...parts.limits }
  }

  /** The content of a file that a search named. */
  async read({ root }: SearchedTree, number: number): Promise<Uint8Array> {
    return this.#parts.retry(() => this.#parts.readFile(this.#filesAt(root), number))
  }

  /**
   * The files at or below a path that may meet a need, with their content, in the order of a walk. Every file that
   * meets it is among them; binary ones may be, links are not. What cannot be read is left out, unless it is the very
   * file that was asked for. ENOENT.
   */
  async *files(
    tree: SearchedTree,
    path: string,
    need: Need,
    signal?: AbortSignal,
  ): AsyncGenerator<FileContent> {
    const files = this.#filesAt(tree.root)
    const start = await this.#parts.retry(() => startOf(files, path))
    if (start.isFile)
      yield { ...start, bytes: await this.#parts.retry(() => this.#parts.readFile(files, start.number)) }
    if (!start.isDirectory) return
    const lookUp = await this.#lookUp(tree.root, need)
    const isStale = await this.#parts.retry(() => this.#isStale(files, lookUp))
    const held = this.#isUpdating || !isStale ? undefined : await heldTree(tree)
    // Another search may have begun to update it meanwhile.
    if (held === undefined || this.#isUpdating) yield* this.#visit(files, start, lookUp, undefined, signal)
    else yield* this.#visitAndUpdate(files, start, lookUp, held, signal)
  }

  async *#visitAndUpdate(
    files: Files,
    start: FoundFile,
    found: LookUp,
    held: HeldTree,
    signal: AbortSignal | undefined,
  ): AsyncGenerator<FileContent> {
    this.#isUpdating = true
    const lookUp = isWornOut(found) ? { ...found, state: undefined, coverage: undefined } : found
    const isMuch = ({ added, bytes }: IndexUpdate) => this.#isMuch(added, bytes)
    const update = new IndexUpdate(this.#parts, files, held, lookUp, isMuch)
    try {
      yield* this.#visit(files, start, lookUp, update, signal)
      if (isMuch(update)) await this.#finish(update, start.number, signal)
    } finally {
      this.#isUpdating = false
      await update.writer.abandon()
    }
  }

  async *#visit(
    files: Files,
    start: FoundFile,
    lookUp: LookUp,
    update: IndexUpdate | undefined,
    signal: AbortSignal | undefined,
  ): AsyncGenerator<FileContent> {
    const turns = new Turns(signal)
    const next = await this.#visits(files, start, lookUp)
    for (let file = await next(); file !== undefined; file = await next()) {
      const bytes = await this.#read(files, file.number)
      if (isUncovered(lookUp, file.number)) await update?.add(file.number, bytes)
      if (bytes !== undefined) yield { ...file, bytes }
      await turns.take(bytes)
    }
  }

  /** Steps through the files worth reading, in order. */
  async #visits(
    files: Files,
    start: FoundFile,
    { coverage, candidates, state }: LookUp,
  ): Promise<() => Answer<FoundFile | undefined>> {
    const { retry } = this.#parts
    if (coverage === undefined || candidates === 'all') {
      const walk = new FileWalk(files, start)
      return () => retry(() => walk.next(() => true))
    }
    const wanted = new Set(candidates).union(coverage.uncovered)
    const documents = state?.blocks.reduce((sum, block) => sum + block.documents, 0) ?? 0
    if (wanted.size > Math.max(this.#limits.fewFiles, documents / 8)) {
      const walk = new FileWalk(files, start)
      return () => retry(() => walk.next((number) => wanted.has(number)))
    }
    const paths = new FilePaths(files, start)
    const found: FoundFile[] = []
    for (const number of wanted) found.push(...(await retry(() => paths.of(number))))
    const sorted = sortedAsWalked(found).values()
    return () => sorted.next().value
  }

  /** Indexes what the search did not come by. */
  async #finish(update: IndexUpdate, searched: number, signal: AbortSignal | undefined): Promise<void> {
    const turns = new Turns(signal)
    const { retry } = this.#parts
    const walk = new FileWalk(update.files, { path: '/', number: ROOT_INODE }, searched)
    const rest = update.rest?.values()
    const next = () =>
      rest === undefined && searched !== ROOT_INODE
        ? retry(() => walk.next(() => true)?.number)
        : rest?.next().value
    for (let number = await next(); number !== undefined; number = await next()) {
      const bytes = await this.#read(update.files, number)
      await update.add(number, bytes)
      await turns.take(bytes)
    }
    await update.writer.finish()
  }

  async #read(files: Files, number: number): Promise<Uint8Array | undefined> {
    try {
      return await this.#parts.retry(() => this.#parts.readFile(files, number))
    } catch (error) {
      if (isVfsError(error)) return undefined
      throw error
    }
  }

  async #lookUp(root: NodeRef<TreeValue>, need: Need): Promise<LookUp> {
    const read = await this.#parts.records.read()
    const state = read.record.current
    const nothing = { read, state: undefined, coverage: undefined, candidates: 'all' } as const
    if (state === undefined) return nothing
    try {
      return await this.#parts.retry(() => ({
        read,
        state,
        coverage: this.#coverage(state.covers, root),
        candidates:
          need === 'anything'
            ? 'all'
            : candidatesOf(new Tree(this.#parts.source, state.index), state.blocks, need),
      }))
    } catch (error) {
      // A damaged index is none: everything is read, and a new one made.
      if (isVfsError(error, 'EIO')) return nothing
      throw error
    }
  }

  #coverage(covers: number, root: NodeRef<TreeValue>): Coverage {
    const last = this.#lastCoverage
    if (last !== undefined && last.covers === covers && last.root === root) return last.coverage
    const { source, codec } = this.#parts
    const coverage = coverageOf(source, covers, root, (one, other) => codec.isSameValue(one, other))
    this.#lastCoverage = { covers, root, coverage }
    return coverage
  }

  #isStale(files: Files, { coverage }: LookUp): boolean {
    if (coverage !== undefined) return this.#isMuch(coverage.uncovered.size, coverage.bytes)
    const { files: count, bytes } = files.counters()
    return this.#isMuch(count, bytes)
  }

  /** Whether a search that has to read so much should spare the next one from it. */
  #isMuch(files: number, bytes: number): boolean {
    return files > this.#limits.staleFiles || bytes > this.#limits.staleBytes
  }

  #filesAt(root: NodeRef<TreeValue>): Files {
    return new Files(new Tree(this.#parts.source, root))
  }
}

/** The tree that is searched, stored; undefined if it cannot be, or is not the newest any more. */
async function heldTree({ root, fold }: SearchedTree): Promise<HeldTree | undefined> {
  try {
    const newest = await fold?.()
    return newest?.root === (typeof root === 'number' ? root : root.id) ? newest : undefined
  } catch (error) {
    if (isVfsError(error)) return undefined
    throw error
  }
}

function startOf(files: Files, path: string): FoundFile & { isFile: boolean; isDirectory: boolean } {
  const number = files.find(files.resolve(path, true, 'search'))
  if (number === undefined) throw new VfsError('ENOENT', path, { op: 'search' })
  const { type } = files.inode(number)
  return { path, number, isFile: type === 'file', isDirectory: type === 'directory' }
}
