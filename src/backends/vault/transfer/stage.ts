import { fileTime } from '../../../machine/index.ts'
import {
  type Answer,
  applyOperation,
  countUnstored,
  type EncodedPage,
  type FileOperation,
  Files,
  foldNodes,
  type StoreHome,
} from '../../../store/index.ts'

/** How many operations may wait in memory before their pages are stored. */
const FOLD_AFTER = 20_000

/**
 * A tree that grows unseen: nothing leads to it until somebody publishes its root. Its pages are stored as it grows,
 * so that it may be larger than memory; should it come to nothing, they are taken away again.
 */
export class Stage {
  readonly files: Files
  readonly #home: StoreHome
  readonly #moment: Parameters<typeof applyOperation>[2]
  readonly #stored: number[] = []
  #waiting = 0

  /** @param seq the journal row that everything in it will be said to have come with. */
  constructor(home: StoreHome, files: Files, seq: number) {
    this.#home = home
    this.files = new Files(files.tree.fork())
    this.#moment = { time: fileTime(BigInt(Date.now()) * 1_000_000n), seq }
  }

  /** Does some operations. `plan` is asked again from the start if a page it needs is far away. */
  apply(plan: (files: Files, perform: (operation: FileOperation) => void) => void): Answer<void> {
    const before = this.files.tree.snapshot()
    return this.#home.reader.resolve(() => {
      this.files.tree.reset(before)
      plan(this.files, (operation) => {
        this.#waiting++
        applyOperation(this.files, operation, this.#moment)
      })
    })
  }

  /** Stores pages, if many wait. */
  async relieve(): Promise<void> {
    if (this.#waiting >= FOLD_AFTER) await this.fold()
  }

  /** Stores every page, and returns the root. */
  async fold(): Promise<number> {
    const { reader, ids, codec, engine } = this.#home
    const { tree } = this.files
    await reader.resolve(() => ids.ensure(countUnstored(tree.snapshot())))
    const pages: EncodedPage[] = []
    const root = foldNodes(tree.snapshot(), codec, ids.next, (page) => pages.push(page))
    await engine.commit({ pages })
    for (const { id } of pages) this.#stored.push(id)
    tree.reset(root)
    this.#waiting = 0
    return root
  }

  /** Takes away what it has stored. Nobody can have come to need it: nothing ever led there. */
  async discard(): Promise<void> {
    await this.#home.engine.commit({ sweep: { pages: this.#stored.splice(0) } })
  }
}
