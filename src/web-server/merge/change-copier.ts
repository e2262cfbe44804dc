import type { Vault } from '../../backends/vault/index.ts'
import {
  type CallContext,
  dirname,
  type FileSystem,
  isLinkable,
  isVfsError,
  type PathChange,
  readFile,
  type Stat,
} from '../../vfs/index.ts'

/** Files that are written together, and their largest size. */
const MAX_TOGETHER = 128
const MAX_SMALL_BYTES = 64 * 1024

interface SmallFile {
  readonly path: string
  readonly after: Stat
  readonly text: string | undefined
}

/** Copies changes of one tree into a vault. Small files that follow each other share commits. */
export class ChangeCopier {
  /** The tree after the changes. */
  readonly #source: FileSystem
  readonly #target: Vault
  readonly #ctx: CallContext
  readonly #small: SmallFile[] = []

  constructor(source: FileSystem, target: Vault, ctx: CallContext) {
    this.#source = source
    this.#target = target
    this.#ctx = ctx
  }

  /**
   * Copies a change, now or with the next ones.
   *
   * @param text the content to write; that of the source when absent.
   */
  async copy(change: PathChange, text: string | undefined): Promise<void> {
    const { kind, path, after } = change
    const isContent = after?.type === 'file' && (kind === 'added' || kind === 'modified')
    if (isContent && after.size <= MAX_SMALL_BYTES) {
      this.#small.push({ path, after, text })
      if (this.#small.length === MAX_TOGETHER) await this.finish()
      return
    }
    // It may need or remove what is before it.
    await this.finish()
    await this.#copyOne(change, text)
  }

  /** Writes the files that wait for others. */
  async finish(): Promise<void> {
    const files = this.#small.splice(0)
    for (const directory of new Set(files.map(({ path }) => dirname(path))))
      await this.#target.mkdir(directory, { parents: true }, this.#ctx)
    const written = await Promise.allSettled(
      files.map(({ path, after, text }) => this.#write(path, after, text)),
    )
    for (const result of written) if (result.status === 'rejected') throw result.reason
  }

  async #copyOne({ kind, path, from, after }: PathChange, text: string | undefined): Promise<void> {
    const [source, target, ctx] = [this.#source, this.#target, this.#ctx]
    if (kind === 'deleted' || after === undefined) {
      await target.remove(path, { recursive: true }, ctx).catch(ignoreRemoved)
      return
    }
    await target.mkdir(dirname(path), { parents: true }, ctx)
    if (kind === 'renamed' && from !== undefined) await target.rename(from, path, {}, ctx)
    if (after.type === 'directory') await target.mkdir(path, { parents: true }, ctx)
    else if (after.type === 'symlink' && isLinkable(source)) {
      await target.remove(path, {}, ctx).catch(ignoreRemoved)
      await target.symlink(await source.readlink(path, ctx), path, ctx)
    } else await this.#write(path, after, text)
  }

  async #write(path: string, { mode }: Stat, text: string | undefined): Promise<void> {
    const content = text ?? (await readFile(this.#source, path, undefined, this.#ctx))
    await this.#target.write(path, content, { ...(mode !== null && { mode }) }, this.#ctx)
  }
}

/** Ignores that a path is gone: the directory above may have been removed before. */
function ignoreRemoved(error: unknown): void {
  if (!isVfsError(error, 'ENOENT') && !isVfsError(error, 'ENOTDIR')) throw error
}
