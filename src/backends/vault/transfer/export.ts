import { chmodSync, utimesSync } from 'node:fs'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { utimesArgument } from '../../../machine/index.ts'
import { inlineText, type StoreHome } from '../../../store/index.ts'
import { basename, checkPath } from '../../../vfs/index.ts'
import { assertNothingInTheWay, assertReplaceable } from './export-conflicts.ts'
import { HostPlace } from './host-place.ts'
import { HostWriter, PLAIN_PERMISSIONS } from './host-writer.ts'
import type { TransferProgress } from './progress.ts'
import { type SourceEntry, TreeWalk, VaultSource } from './vault-source.ts'

/** Files up to this are written in one go; larger ones with turns for other work in between. */
const SMALL_FILE_BYTES = 1024 * 1024
const ENTRIES_A_TURN = 256
const BYTES_A_TURN = 8 * 1024 * 1024

export interface ExportOptions {
  /** The checkpoint to export; the vault as it is now when absent. */
  readonly at?: string
  /** What to export: a directory with all below it, or one file. `/` when absent. */
  readonly path?: string
  /** Replace files and links that are there. Directories are joined either way, and nothing is removed. */
  readonly overwrite?: boolean
  /** Told every few hundred files and every few megabytes. */
  readonly onProgress?: (progress: TransferProgress) => void
  readonly signal?: AbortSignal
}

export interface ExportReport {
  readonly files: number
  readonly directories: number
  readonly links: number
  /** Of content. */
  readonly bytes: number
  /** What no machine can be given by an import or export: devices, sockets and pipes of the vault. */
  readonly skipped: readonly string[]
}

/**
 * Writes a tree of a vault into a directory of the machine, which is made if it is missing. EEXIST, with nothing
 * written, if something is in the way. What exports left there that were killed is removed. No link of the target is followed, at any level, whoever swaps one in; links of
 * the vault are written with their target as it is. Each file appears whole; directories get their permissions and
 * times when their content is there. Nothing is synced to disk. ENOENT for the vault, the checkpoint or the path.
 */
export async function exportVault(
  home: StoreHome,
  vault: string,
  directory: string,
  options: ExportOptions = {},
): Promise<ExportReport> {
  options.signal?.throwIfAborted()
  await using source = await VaultSource.open(home, vault, options.at)
  const path = checkPath(options.path ?? '/', 'export')
  const entry = { name: basename(path), ...(await source.find(path, 'export')) }
  const place = new HostPlace(directory)
  try {
    const job = new Export(source, place, options)
    await (entry.inode.type === 'directory' ? job.runDirectory(entry) : job.runEntry(entry))
    return job.report
  } finally {
    place.close()
  }
}

class Export {
  readonly #source: VaultSource
  readonly #place: HostPlace
  readonly #options: ExportOptions
  readonly #overwrite: boolean
  readonly #counts = { files: 0, directories: 0, links: 0, bytes: 0 }
  readonly #skipped: string[] = []
  #entriesThisTurn = 0
  #bytesThisTurn = 0

  constructor(source: VaultSource, place: HostPlace, options: ExportOptions) {
    this.#source = source
    this.#place = place
    this.#options = options
    this.#overwrite = options.overwrite ?? false
  }

  get report(): ExportReport {
    return { ...this.#counts, skipped: [...this.#skipped] }
  }

  async runDirectory(root: SourceEntry): Promise<void> {
    await assertNothingInTheWay(this.#source, root, this.#place, this.#overwrite)
    this.#place.sweep()
    const walk = new TreeWalk(this.#source, root)
    for (;;) {
      const next = walk.next()
      const step = next instanceof Promise ? await next : next
      if (step === undefined) break
      if ('left' in step) {
        if (step.left !== root) this.#leave(step.left)
      } else if (step.entry.inode.type === 'directory') {
        this.#place.make(step.entry.name)
        this.#counts.directories++
        walk.enter(step.entry)
      } else {
        const slow = this.#put(step.entry)
        if (slow !== undefined) await slow
      }
      if (++this.#entriesThisTurn >= ENTRIES_A_TURN || this.#bytesThisTurn >= BYTES_A_TURN) await this.#rest()
    }
    await this.#rest()
  }

  async runEntry(entry: SourceEntry): Promise<void> {
    assertReplaceable(this.#place, entry, this.#overwrite)
    this.#place.sweep()
    await this.#put(entry)
    await this.#rest()
  }

  #leave({ inode }: SourceEntry): void {
    const time = utimesArgument(inode.mtime)
    this.#place.during('', () => {
      const path = this.#place.here.self()
      utimesSync(path, time, time)
      chmodSync(path, inode.mode & PLAIN_PERMISSIONS)
    })
    this.#place.leave()
  }

  /** Writes what is no directory: at once, unless it is large or far away. */
  #put(entry: SourceEntry): Promise<void> | undefined {
    const { name, inode, number } = entry
    const writer = this.#place.during(name, () => new HostWriter(this.#place.here, name, this.#overwrite))
    if (inode.type === 'symlink') {
      this.#place.during(name, () => writer.link(inlineText(inode.content), inode))
      this.#counts.links++
    } else if (inode.type !== 'file') this.#skipped.push(this.#place.pathOf(name))
    else if (inode.size > SMALL_FILE_BYTES) return this.#putSlowly(entry, writer)
    else {
      const content = this.#source.part(number, 0)
      if (content instanceof Promise) return content.then((chunks) => this.#putNow(entry, writer, chunks))
      this.#putNow(entry, writer, content)
    }
    return undefined
  }

  #putNow({ name, inode }: SourceEntry, writer: HostWriter, chunks: readonly Uint8Array[]): void {
    this.#place.during(name, () => writer.writeNow(chunks, inode))
    this.#counts.files++
    this.#counts.bytes += inode.size
    this.#bytesThisTurn += inode.size
  }

  async #putSlowly({ name, inode, number }: SourceEntry, writer: HostWriter): Promise<void> {
    try {
      await writer.writeSlowly(this.#parts(number, inode.size), inode, (bytes) => this.#tell(bytes))
      this.#counts.files++
    } catch (error) {
      throw this.#place.told(error, name)
    }
  }

  async *#parts(number: number, size: number): AsyncGenerator<Uint8Array[]> {
    for (let at = 0; at < size; ) {
      const part = await this.#source.part(number, at)
      yield part
      at += part.reduce((sum, { length }) => sum + length, 0)
    }
  }

  #tell(more: number): void {
    this.#options.signal?.throwIfAborted()
    this.#counts.bytes += more
    const { files, links, bytes } = this.#counts
    this.#options.onProgress?.({ done: files + links, bytes })
  }

  async #rest(): Promise<void> {
    this.#entriesThisTurn = 0
    this.#bytesThisTurn = 0
    await nextTurn()
    this.#tell(0)
  }
}
