import {
  type CallContext,
  type FileSystem,
  isAttributed,
  isLinkable,
  isVfsError,
  join,
  type Stat,
  VfsError,
  type WalkEntry,
} from '../../vfs/index.ts'

/** Options of `unpack`. */
export interface UnpackOptions {
  /** The target directory, created if it is missing. The root when absent. */
  readonly into?: string
  /** Limits the written content; more is EFBIG. A hard link of a tar counts as a file. No limit when absent. */
  readonly maxBytes?: number
  readonly onProgress?: (report: UnpackReport) => void
}

/** Counts of an `unpack`. */
export interface UnpackReport {
  readonly files: number
  readonly directories: number
  readonly links: number
  /** Bytes of content written. */
  readonly bytes: number
  /** Files and links that already existed unchanged. */
  readonly unchanged: number
}

/** Number of concurrent writes, which a store commits together. */
const MAX_CONCURRENT_FILES = 64
const OWNER_BITS = 0o700

/**
 * Copies a whole file system, such as an archive, into a directory of another: content, links, permissions and times.
 * Files with equal size, permissions and time are skipped, so that a repeated call continues an interrupted one.
 * EEXIST or ENOTDIR if a path is taken, ELOOP if a link is in the path, EFBIG for content beyond `maxBytes`, ENOTSUP if the
 * target cannot store a link.
 */
export async function unpack(
  from: FileSystem,
  target: FileSystem,
  { into = '/', maxBytes = Number.POSITIVE_INFINITY, onProgress }: UnpackOptions = {},
  ctx?: CallContext,
): Promise<UnpackReport> {
  if (into !== '/') await target.mkdir(into, { parents: true }, ctx)
  const base = isLinkable(target) ? await target.realpath(into, { followLast: true }, ctx) : into
  // An existing link could redirect the content.
  const job = new UnpackJob(from, target, maxBytes, { ...ctx, links: 'refuse' })
  let pending: Promise<void>[] = []
  try {
    for await (const entry of from.walk('/', { includeDirs: true }, ctx)) {
      const path = join(base, entry.path.slice(1))
      // A directory must exist before its entries.
      if (entry.stat.type === 'directory') await job.unpackDirectory(path, entry.stat)
      else pending.push(deferRejection(job.unpackEntry(path, entry)))
      if (pending.length < MAX_CONCURRENT_FILES) continue
      await Promise.all(pending)
      pending = []
      onProgress?.(job.report)
    }
    await Promise.all(pending)
  } finally {
    // No write continues after the caller sees the failure.
    await Promise.allSettled(pending)
  }
  await job.setDirectoryAttributes()
  return job.report
}

/** Defers a rejection until the work is awaited, so that it does not end the program. */
function deferRejection(job: Promise<void>): Promise<void> {
  job.catch(() => {})
  return job
}

class UnpackJob {
  readonly #from: FileSystem
  readonly #target: FileSystem
  readonly #maxBytes: number
  readonly #ctx: CallContext | undefined
  /** Bytes of files that are written or being written. */
  #reservedBytes = 0
  readonly #directories: { readonly path: string; readonly stat: Stat }[] = []
  report: UnpackReport = { files: 0, directories: 0, links: 0, bytes: 0, unchanged: 0 }

  constructor(from: FileSystem, target: FileSystem, maxBytes: number, ctx: CallContext | undefined) {
    this.#from = from
    this.#target = target
    this.#maxBytes = maxBytes
    this.#ctx = ctx
  }

  /** Creates a directory, or accepts an existing one. A walk yields parents first, so they are not looked up again. */
  async unpackDirectory(path: string, stat: Stat): Promise<void> {
    const options = this.#toInitialMode(stat)
    try {
      await this.#target.mkdir(path, options, this.#ctx)
    } catch (error) {
      if (!isVfsError(error, 'EEXIST')) throw error
      // Accepts an existing directory and rejects anything else.
      await this.#target.mkdir(path, { ...options, parents: true }, this.#ctx)
    }
    this.#directories.push({ path, stat })
    this.#count({ directories: 1 })
  }

  async unpackEntry(path: string, { path: source, stat }: WalkEntry): Promise<void> {
    const existing = await this.#statIfPresent(path)
    if (stat.type === 'symlink') return this.#unpackLink(path, source, existing)
    if (stat.type !== 'file') return
    if (existing !== undefined && isUnchanged(existing, stat)) return this.#count({ unchanged: 1 })
    if (existing !== undefined && existing.type !== 'file')
      throw new VfsError('EEXIST', path, {
        op: 'write',
        detail: `a ${existing.type} exists at this path; remove it first`,
      })
    this.#reserve(path, stat.size)
    await this.#target.write(path, this.#from.read(source, {}, this.#ctx), toModeOption(stat), this.#ctx)
    await this.#setAttributes(path, stat)
    this.#count({ files: 1, bytes: stat.size })
  }

  /**
   * Sets the times and permissions of all directories. Runs last, because every new entry changes a directory's time,
   * and the deepest first, because a directory may deny access to those in it.
   */
  async setDirectoryAttributes(): Promise<void> {
    for (const { path, stat } of this.#directories.toReversed()) await this.#setAttributes(path, stat)
  }

  /** Returns the permissions of a directory until its own are set: its entries have to be written first. */
  #toInitialMode({ mode }: Stat): { readonly mode?: number } {
    if (mode === null) return {}
    return { mode: isAttributed(this.#target) ? mode | OWNER_BITS : mode }
  }

  #reserve(path: string, bytes: number): void {
    this.#reservedBytes += bytes
    if (this.#reservedBytes <= this.#maxBytes) return
    const detail = `the content has more than ${this.#maxBytes} bytes; raise maxBytes`
    throw new VfsError('EFBIG', path, { op: 'write', detail })
  }

  async #unpackLink(path: string, source: string, existing: Stat | undefined): Promise<void> {
    const [from, target] = [this.#from, this.#target]
    if (!isLinkable(from) || !isLinkable(target))
      throw new VfsError('ENOTSUP', path, {
        op: 'symlink',
        detail: 'the target file system cannot store symbolic links',
      })
    const linkTarget = await from.readlink(source, this.#ctx)
    if (existing?.type === 'symlink' && (await target.readlink(path, this.#ctx)) === linkTarget)
      return this.#count({ unchanged: 1 })
    await target.symlink(linkTarget, path, this.#ctx)
    this.#count({ links: 1 })
  }

  async #setAttributes(path: string, stat: Stat): Promise<void> {
    if (!isAttributed(this.#target)) return
    await this.#target.setattr(path, { mtime: stat.mtime, ...toModeOption(stat) }, this.#ctx)
  }

  async #statIfPresent(path: string): Promise<Stat | undefined> {
    try {
      return await this.#target.stat(path, this.#ctx)
    } catch (error) {
      if (isVfsError(error, 'ENOENT')) return undefined
      throw error
    }
  }

  #count(more: Partial<UnpackReport>): void {
    const { files = 0, directories = 0, links = 0, bytes = 0, unchanged = 0 } = more
    const { report } = this
    this.report = {
      files: report.files + files,
      directories: report.directories + directories,
      links: report.links + links,
      bytes: report.bytes + bytes,
      unchanged: report.unchanged + unchanged,
    }
  }
}

function toModeOption({ mode }: Stat): { readonly mode?: number } {
  return mode === null ? {} : { mode }
}

function isUnchanged(existing: Stat, stat: Stat): boolean {
  return (
    existing.type === 'file' &&
    existing.size === stat.size &&
    existing.mtime.getTime() === stat.mtime.getTime() &&
    (stat.mode === null || existing.mode === stat.mode)
  )
}
