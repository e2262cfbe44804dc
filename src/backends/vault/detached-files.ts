import {
  applyOperation,
  type EngineReader,
  Files,
  momentOf,
  OpenInodes,
  type Plan,
} from '../../store/index.ts'
import type { FilesSource } from './files-source.ts'

/** Files that start as others are now and live in memory only: what changes is written nowhere. */
export class DetachedFiles implements FilesSource {
  readonly opens: OpenInodes
  readonly #files: Files
  readonly #reader: EngineReader
  #changes = 0

  constructor(files: Files, reader: EngineReader) {
    const tree = files.tree.fork()
    this.opens = new OpenInodes(reader.session)
    reader.session.hold(tree)
    this.#files = new Files(tree)
    this.#reader = reader
  }

  read(): Files {
    return this.#files
  }

  async submit(plan: Plan): Promise<void> {
    await this.#reader.resolve(() => this.submitNow(plan))
  }

  submitNow(plan: Plan): void {
    const { tree } = this.#files
    const before = tree.snapshot()
    try {
      const operation = plan(this.#files)
      if (operation === null) return
      this.opens.beforeOperation(this.#files, operation)
      applyOperation(this.#files, operation, momentOf(Date.now(), ++this.#changes))
    } catch (error) {
      tree.reset(before)
      throw error
    }
    this.opens.settle(this.#files)
  }
}
