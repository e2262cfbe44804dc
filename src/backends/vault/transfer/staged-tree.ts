import { toFileTime } from '../../../machine/index.ts'
import {
  applyOperation,
  countUnstored,
  type EncodedPage,
  type FileOperation,
  flushNodes,
  type MaybePromise,
  type StoreHome,
  VaultFiles,
} from '../../../store/index.ts'

/** Maximum number of operations in memory before their pages are stored. */
const MAX_PENDING_OPERATIONS = 20_000

/**
 * A tree that nothing references until its root is published. Its pages are stored as it grows, so that it may exceed
 * memory; `discard` removes them.
 */
export class StagedTree {
  readonly files: VaultFiles
  readonly #home: StoreHome
  readonly #applyContext: Parameters<typeof applyOperation>[2]
  readonly #stored: number[] = []
  #pendingOperations = 0

  /** @param seq the journal row to record for everything in it. */
  constructor(home: StoreHome, files: VaultFiles, seq: number) {
    this.#home = home
    this.files = new VaultFiles(files.tree.fork())
    this.#applyContext = { time: toFileTime(BigInt(Date.now()) * 1_000_000n), seq }
  }

  /** Applies operations. `plan` runs again from the start if a page has to be fetched. */
  apply(plan: (files: VaultFiles, perform: (operation: FileOperation) => void) => void): MaybePromise<void> {
    const before = this.files.tree.snapshot()
    return this.#home.reader.run(() => {
      this.files.tree.reset(before)
      plan(this.files, (operation) => {
        this.#pendingOperations++
        applyOperation(this.files, operation, this.#applyContext)
      })
    })
  }

  /** Stores pages if many are pending. */
  async flushIfLarge(): Promise<void> {
    if (this.#pendingOperations >= MAX_PENDING_OPERATIONS) await this.flushPages()
  }

  /** Stores all pages and returns the root. */
  async flushPages(): Promise<number> {
    const { reader, ids, codec, engine } = this.#home
    const { tree } = this.files
    await reader.run(() => ids.ensure(countUnstored(tree.snapshot())))
    const pages: EncodedPage[] = []
    const root = flushNodes(tree.snapshot(), codec, ids.next, (page) => pages.push(page))
    await engine.commit({ pages })
    for (const { id } of pages) this.#stored.push(id)
    tree.reset(root)
    this.#pendingOperations = 0
    return root
  }

  /** Removes the stored pages, which nothing references. */
  async discard(): Promise<void> {
    await this.#home.engine.commit({ sweep: { pages: this.#stored.splice(0) } })
  }
}
