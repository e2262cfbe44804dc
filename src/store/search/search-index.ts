import { isVfsError, VfsError } from '../../vfs/index.ts'
import type { MaybePromise } from '../engine.ts'
import { ROOT_INODE, VaultFiles } from '../files/vault-files.ts'
import type { Hold } from '../sessions/store-session.ts'
import { Tree } from '../tree/tree.ts'
import type { NodeRef } from '../tree/tree-node.ts'
import type { TreeValue } from '../tree/tree-values.ts'
import { findCandidates } from './candidates.ts'
import { type Coverage, computeCoverage } from './coverage.ts'
import { FilePaths, sortInWalkOrder } from './file-paths.ts'
import { FileWalk, type FoundFile } from './file-walk.ts'
import { type IndexLookup, isUncovered, needsRebuild } from './index-lookup.ts'
import { IndexUpdate } from './index-update.ts'
import type { FlushedTree, IndexWriterContext } from './index-writer.ts'
import { SearchYielder } from './search-yielder.ts'
import type { TrigramQuery } from './trigram-query.ts'

export interface SearchIndexContext extends IndexWriterContext {
  /** Reads the whole content of a file. */
  readonly readFile: (files: VaultFiles, number: number) => Uint8Array
  readonly limits?: Partial<SearchLimits>
}

export interface SearchLimits {
  /** A search that reads more files, or more bytes, that the index does not cover brings it up to date. */
  readonly staleFiles: number
  readonly staleBytes: number
  /** Number of files up to which paths are looked up one by one and sorted; more are found by a walk. */
  readonly fewFiles: number
}

const DEFAULT_LIMITS: SearchLimits = { staleFiles: 512, staleBytes: 8 * 1024 * 1024, fewFiles: 4096 }

/** The tree to search, and how to store it: without `flush`, the search does not update the index. */
export interface SearchedTree {
  readonly root: NodeRef<TreeValue>
  /** Protects the tree from collection until the search is done. */
  readonly hold?: Hold
  /** Flushes the vault's current tree. */
  readonly flush?: () => MaybePromise<FlushedTree>
}

export interface SearchReadOptions {
  readonly signal?: AbortSignal | undefined
  /** Called for each damaged file. */
  readonly onUnreadable?: ((path: string, error: VfsError) => void) | undefined
}

export interface FoundFileContent extends FoundFile {
  readonly bytes: Uint8Array
}

/** Finds candidate files of a vault, and indexes the files it had to read. */
export class SearchIndex {
  readonly #context: SearchIndexContext
  readonly #limits: SearchLimits
  #isUpdating = false
  #lastCoverage: { covers: number; root: NodeRef<TreeValue>; coverage: Coverage } | undefined

  constructor(context: SearchIndexContext) {
    this.#context = context
    this.#limits = { ...DEFAULT_LIMITS, ...context.limits }
  }

  /** Reads the content of a file that a search returned. */
  async readFile({ root }: SearchedTree, number: number): Promise<Uint8Array> {
    return this.#context.retry(() => this.#context.readFile(this.#getFilesAt(root), number))
  }

  /**
   * Yields the candidate files at or below a path with their content, in the order of a walk. Includes every matching
   * file and possibly binary ones, no links. Skips damaged files, unless `path` is that very file. ENOENT for a
   * missing path; any error of a store that does not respond.
   */
  async *findFiles(
    tree: SearchedTree,
    path: string,
    query: TrigramQuery,
    options: SearchReadOptions = {},
  ): AsyncGenerator<FoundFileContent> {
    const files = this.#getFilesAt(tree.root)
    const start = await this.#context.retry(() => getSearchStart(files, path))
    if (start.isFile)
      yield { ...start, bytes: await this.#context.retry(() => this.#context.readFile(files, start.number)) }
    if (!start.isDirectory) return
    const lookup = await this.#lookUp(tree.root, query)
    const isStale = await this.#context.retry(() => this.#isStale(files, lookup))
    const flushed = this.#isUpdating || !isStale ? undefined : await flushTree(tree)
    // Another search may have begun an update meanwhile.
    if (flushed === undefined || this.#isUpdating)
      yield* this.#readFiles(files, start, lookup, undefined, options)
    else yield* this.#readFilesAndUpdate(files, start, lookup, flushed, options)
  }

  /** Reads the candidates, and brings the index up to date if it had to read much. */
  async *#readFilesAndUpdate(
    files: VaultFiles,
    start: FoundFile,
    found: IndexLookup,
    flushed: FlushedTree,
    options: SearchReadOptions,
  ): AsyncGenerator<FoundFileContent> {
    this.#isUpdating = true
    const lookup = needsRebuild(found) ? { ...found, state: undefined, coverage: undefined } : found
    const exceedsLimits = ({ added, bytes }: IndexUpdate) => this.#exceedsLimits(added, bytes)
    const update = new IndexUpdate(this.#context, files, flushed, lookup, exceedsLimits)
    try {
      yield* this.#readFiles(files, start, lookup, update, options)
      if (exceedsLimits(update)) await this.#finishUpdate(update, start.number, options.signal)
    } finally {
      this.#isUpdating = false
      await update.writer.abandon()
    }
  }

  /** Reads the candidates in order; adds those that the index does not cover to the update. */
  async *#readFiles(
    files: VaultFiles,
    start: FoundFile,
    lookup: IndexLookup,
    update: IndexUpdate | undefined,
    { signal, onUnreadable }: SearchReadOptions,
  ): AsyncGenerator<FoundFileContent> {
    const yielder = new SearchYielder(signal)
    const next = await this.#createFileCursor(files, start, lookup)
    for (let file = await next(); file !== undefined; file = await next()) {
      const bytes = await this.#tryReadFile(files, file.number, (error) => onUnreadable?.(file.path, error))
      if (isUncovered(lookup, file.number)) await update?.add(file.number, bytes)
      if (bytes !== undefined) yield { ...file, bytes }
      await yielder.yieldIfDue(bytes)
    }
  }

  /** Creates a cursor over the candidate files, in order. */
  async #createFileCursor(
    files: VaultFiles,
    start: FoundFile,
    { coverage, candidates, state }: IndexLookup,
  ): Promise<() => MaybePromise<FoundFile | undefined>> {
    const { retry } = this.#context
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
    for (const number of wanted) found.push(...(await retry(() => paths.listPaths(number))))
    const sorted = sortInWalkOrder(found).values()
    return () => sorted.next().value
  }

  /** Indexes the files that the search did not read; gives up if the store does not respond. */
  async #finishUpdate(update: IndexUpdate, searched: number, signal: AbortSignal | undefined): Promise<void> {
    const yielder = new SearchYielder(signal)
    const { retry } = this.#context
    const walk = new FileWalk(update.files, { path: '/', number: ROOT_INODE }, searched)
    const rest = update.rest?.values()
    const next = () =>
      rest === undefined && searched !== ROOT_INODE
        ? retry(() => walk.next(() => true)?.number)
        : rest?.next().value
    for (let number = await next(); number !== undefined; number = await next()) {
      let bytes: Uint8Array | undefined
      try {
        bytes = await this.#tryReadFile(update.files, number)
      } catch (error) {
        if (isVfsError(error)) return
        throw error
      }
      await update.add(number, bytes)
      await yielder.yieldIfDue(bytes)
    }
    await update.writer.finish()
  }

  /** Reads a file; undefined if it is damaged. Throws if the store does not respond: the next file fares no better. */
  async #tryReadFile(
    files: VaultFiles,
    number: number,
    onDamaged?: (error: VfsError) => void,
  ): Promise<Uint8Array | undefined> {
    try {
      return await this.#context.retry(() => this.#context.readFile(files, number))
    } catch (error) {
      if (!isVfsError(error, 'EIO')) throw error
      onDamaged?.(error)
      return undefined
    }
  }

  /** Finds the candidates of a query in the index, and the files that it does not cover. */
  async #lookUp(root: NodeRef<TreeValue>, query: TrigramQuery): Promise<IndexLookup> {
    const snapshot = await this.#context.records.read()
    const state = snapshot.record.current
    const withoutIndex = { snapshot, state: undefined, coverage: undefined, candidates: 'all' } as const
    if (state === undefined) return withoutIndex
    try {
      return await this.#context.retry(() => ({
        snapshot,
        state,
        coverage: this.#getCoverage(state.covers, root),
        candidates:
          query === 'anything'
            ? 'all'
            : findCandidates(new Tree(this.#context.source, state.index), state.blocks, query),
      }))
    } catch (error) {
      // A damaged index counts as absent: the search reads everything and builds a new one.
      if (isVfsError(error, 'EIO')) return withoutIndex
      throw error
    }
  }

  #getCoverage(covers: number, root: NodeRef<TreeValue>): Coverage {
    const last = this.#lastCoverage
    if (last !== undefined && last.covers === covers && last.root === root) return last.coverage
    const { source, codec } = this.#context
    const coverage = computeCoverage(source, covers, root, (one, other) => codec.isSameValue(one, other))
    this.#lastCoverage = { covers, root, coverage }
    return coverage
  }

  #isStale(files: VaultFiles, { coverage }: IndexLookup): boolean {
    if (coverage !== undefined) return this.#exceedsLimits(coverage.uncovered.size, coverage.bytes)
    const { files: count, bytes } = files.getCounters()
    return this.#exceedsLimits(count, bytes)
  }

  /** Reports whether a search reads so much that it should update the index. */
  #exceedsLimits(files: number, bytes: number): boolean {
    return files > this.#limits.staleFiles || bytes > this.#limits.staleBytes
  }

  #getFilesAt(root: NodeRef<TreeValue>): VaultFiles {
    return new VaultFiles(new Tree(this.#context.source, root))
  }
}

/** Flushes the searched tree; undefined if that fails, or the tree is not the newest any more. */
async function flushTree({ root, flush }: SearchedTree): Promise<FlushedTree | undefined> {
  try {
    const newest = await flush?.()
    return newest?.root === (typeof root === 'number' ? root : root.id) ? newest : undefined
  } catch (error) {
    if (isVfsError(error)) return undefined
    throw error
  }
}

function getSearchStart(
  files: VaultFiles,
  path: string,
): FoundFile & { isFile: boolean; isDirectory: boolean } {
  const number = files.findByPath(files.resolveLinks(path, true, 'search'))
  if (number === undefined) throw new VfsError('ENOENT', path, { op: 'search' })
  const { type } = files.getInode(number)
  return { path, number, isFile: type === 'file', isDirectory: type === 'directory' }
}
