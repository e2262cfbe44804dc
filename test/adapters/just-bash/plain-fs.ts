import { MemoryFs } from 'coppice'
import {
  Backend,
  type Capability,
  type Content,
  type DirEntry,
  type FileSystem,
  type MkdirOptions,
  type ReadOptions,
  type RemoveOptions,
  type Stat,
  type WriteOptions,
} from 'coppice/backend'

/** A file system with only files and directories: no links, attributes, identities, renames or appends. */
export class PlainFs extends Backend {
  readonly capabilities: ReadonlySet<Capability> = new Set(['read', 'write', 'mkdir'])
  readonly #files: FileSystem
  readonly #before: () => Promise<void>

  /** @param before runs within every operation. */
  constructor(files: FileSystem = new MemoryFs(), before: () => Promise<void> = async () => {}) {
    super()
    this.#files = files
    this.#before = before
  }

  protected async doStat(path: string): Promise<Stat> {
    await this.#before()
    return { ...(await this.#files.stat(path)), mode: null }
  }

  protected async *doReaddir(path: string): AsyncGenerator<DirEntry> {
    await this.#before()
    yield* this.#files.readdir(path)
  }

  protected async *doRead(path: string, options: ReadOptions): AsyncGenerator<Uint8Array> {
    await this.#before()
    yield* this.#files.read(path, options)
  }

  protected override async doWrite(path: string, content: Content, options: WriteOptions): Promise<void> {
    await this.#before()
    await this.#files.write(path, content, options)
  }

  protected override async doMkdir(path: string, options: MkdirOptions): Promise<void> {
    await this.#before()
    await this.#files.mkdir(path, options)
  }

  protected override async doRemove(path: string, options: RemoveOptions): Promise<void> {
    await this.#before()
    await this.#files.remove(path, options)
  }
}
