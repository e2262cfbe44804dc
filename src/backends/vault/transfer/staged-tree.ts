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

/** How many operations may wait in memory before their pages are stored. */
const MAX_PENDING_OPERATIONS = 20_000

/**
 * A tree that grows unseen: nothing leads to it until somebody publishes its root. Its pages are stored as it grows,
 * so that it may be larger than memory; should it come to nothing, they are taken away again.
 */
export class StagedTree {
  readonly files: VaultFiles
  readonly #home: StoreHome
  readonly #applyContext: Parameters<typeof applyOperation>[2]
  readonly #stored: number[] = []
  #pendingOperations = 0

  /** @param seq the journal row that everything in it will be said to have come with. */
  constructor(home: StoreHome, files: VaultFiles, seq: number) {
    this.#home = home
    this.files = new VaultFiles(files.tree.fork())
    this.#applyContext = { time: toFileTime(BigInt(Date.now()) * 1_000_000n), seq }
  }

  /** Does some operations. `plan` is asked again from the start if a page it needs is far away. */
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

  /** Stores pages, if many wait. */
  async flushIfLarge(): Promise<void> {
    if (this.#pendingOperations >= MAX_PENDING_OPERATIONS) await this.flushPages()
  }

  /** Stores every page, and returns the root. */
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

  /** Takes away what it has stored. Nobody can have come to need it: nothing ever led there. */
  async discard(): Promise<void> {
    await this.#home.engine.commit({ sweep: { pages: this.#stored.splice(0) } })
  }
}
