import {
  applyOperation,
  Blobs,
  type EngineReader,
  Files,
  momentOf,
  type Plan,
  type StoreHome,
} from '../../store/index.ts'
import type { Capability, Forkable } from '../../vfs/index.ts'
import { type FilesSource, VaultFs, vaultCapabilities } from './vault-fs.ts'

const DETACHED: ReadonlySet<Capability> = new Set([...vaultCapabilities, 'fork'])

/** Files that start as a vault's are now and live in memory only: what changes is written nowhere. */
class DetachedFiles implements FilesSource {
  readonly #files: Files
  readonly #reader: EngineReader
  #changes = 0

  constructor(files: Files, reader: EngineReader) {
    const tree = files.tree.fork()
    // No record names it: a garbage collection has to be told.
    tree.hold()
    this.#files = new Files(tree)
    this.#reader = reader
  }

  read(): Files {
    return this.#files
  }

  async submit(plan: Plan): Promise<void> {
    await this.#reader.resolve(() => this.#perform(plan))
  }

  #perform(plan: Plan): void {
    const { tree } = this.#files
    const before = tree.snapshot()
    try {
      const operation = plan(this.#files)
      if (operation !== null) applyOperation(this.#files, operation, momentOf(Date.now(), ++this.#changes))
    } catch (error) {
      tree.reset(before)
      throw error
    }
  }
}

/** A fork without a name, in constant time, gone when nobody holds it. */
export class DetachedFs extends VaultFs implements Forkable {
  override readonly capabilities: ReadonlySet<Capability> = DETACHED

  private constructor(files: Files, blobs: Blobs) {
    super(new DetachedFiles(files, blobs.reader), blobs)
  }

  static from({ reader, ids }: StoreHome, files: Files): DetachedFs {
    // Its blobs never wait for a commit, so however many there are, they stay in memory.
    return new DetachedFs(files, new Blobs(reader, ids.next, Number.POSITIVE_INFINITY))
  }

  fork(): DetachedFs {
    return new DetachedFs(this.source.read(), this.blobs)
  }
}
