import {
  applyOperation,
  type EngineReader,
  OpenInodes,
  type OperationPlan,
  toMoment,
  VaultFiles,
} from '../../store/index.ts'
import type { FilesSource } from './files-source.ts'

/** An in-memory fork of files. Its changes are stored nowhere. */
export class DetachedFiles implements FilesSource {
  readonly openInodes: OpenInodes
  readonly #files: VaultFiles
  readonly #reader: EngineReader
  #changes = 0

  constructor(files: VaultFiles, reader: EngineReader) {
    const tree = files.tree.fork()
    this.openInodes = new OpenInodes(reader.session)
    reader.session.hold(tree)
    this.#files = new VaultFiles(tree)
    this.#reader = reader
  }

  readFiles(): VaultFiles {
    return this.#files
  }

  async submit(plan: OperationPlan): Promise<void> {
    await this.#reader.run(() => this.submitSync(plan))
  }

  submitSync(plan: OperationPlan): void {
    const { tree } = this.#files
    const before = tree.snapshot()
    try {
      const operation = plan(this.#files)
      if (operation === null) return
      this.openInodes.beforeOperation(this.#files, operation)
      applyOperation(this.#files, operation, toMoment(Date.now(), ++this.#changes))
    } catch (error) {
      tree.reset(before)
      throw error
    }
    this.openInodes.commit(this.#files)
  }
}
