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

export interface UnpackOptions {
  /** The directory it goes into; made if it is missing. The root when absent. */
  readonly into?: string
  /** Limits the content that is written; more is EFBIG. A hard link of a tar counts as a file. No limit when absent. */
  readonly maxBytes?: number
  readonly onProgress?: (report: UnpackReport) => void
}

export interface UnpackReport {
  readonly files: number
  readonly directories: number
  readonly links: number
  /** Of content, written. */
  readonly bytes: number
  /** Files and links that were there already, as they are. */
  readonly unchanged: number
}

/** Written at once, since a store commits together what comes together. */
const MAX_CONCURRENT_FILES = 64

/**
 * Copies a whole file system, such as an archive, into a directory of another: content, links, permissions and times.
 * What is there with equal size, permissions and time is left alone, so what was interrupted goes on when it is done
 * again. EEXIST, EISDIR and ENOTDIR where something else is in the way, ELOOP where a link is.
 */
export async function unpack(
  from: FileSystem,
  target: FileSystem,
  { into = '/', maxBytes = Number.POSITIVE_INFINITY, onProgress }: UnpackOptions = {},
  ctx?: CallContext,
): Promise<UnpackReport> {
  if (into !== '/') await target.mkdir(into, { parents: true }, ctx)
  const base = isLinkable(target) ? await target.realpath(into, { followLast: true }, ctx) : into
  // A link that is there already would lead what comes to somewhere else.
  const work = new UnpackJob(from, target, maxBytes, { ...ctx, links: 'refuse' })
  let pending: Promise<void>[] = []
  try {
    for await (const entry of from.walk('/', { includeDirs: true }, ctx)) {
      const path = join(base, entry.path.slice(1))
      // A directory must be there before what lies in it.
      if (entry.stat.type === 'directory') await work.unpackDirectory(path, entry.stat)
      else pending.push(deferRejection(work.unpackEntry(path, entry)))
      if (pending.length < MAX_CONCURRENT_FILES) continue
      await Promise.all(pending)
      pending = []
      onProgress?.(work.report)
    }
    await Promise.all(pending)
  } finally {
    // No write continues after the caller sees the failure.
    await Promise.allSettled(pending)
  }
  await work.setDirectoryTimes()
  return work.report
}

/** Defers a rejection until the work is awaited, so that it does not end the program. */
function deferRejection(work: Promise<void>): Promise<void> {
  work.catch(() => {})
  return work
}

class UnpackJob {
  readonly #from: FileSystem
  readonly #target: FileSystem
  readonly #maxBytes: number
  readonly #ctx: CallContext | undefined
  /** The content of files that are written or being written. */
  #reservedBytes = 0
  readonly #directories: { readonly path: string; readonly stat: Stat }[] = []
  report: UnpackReport = { files: 0, directories: 0, links: 0, bytes: 0, unchanged: 0 }

  constructor(from: FileSystem, target: FileSystem, maxBytes: number, ctx: CallContext | undefined) {
    this.#from = from
    this.#target = target
    this.#maxBytes = maxBytes
    this.#ctx = ctx
  }

  /** A walk gives a directory after the one it lies in, so nothing above it is looked for again. */
  async unpackDirectory(path: string, stat: Stat): Promise<void> {
    const options = toModeOption(stat)
    try {
      await this.#target.mkdir(path, options, this.#ctx)
    } catch (error) {
      if (!isVfsError(error, 'EEXIST')) throw error
      // Accepts a directory that is there, and refuses anything else.
      await this.#target.mkdir(path, { ...options, parents: true }, this.#ctx)
    }
    this.#directories.push({ path, stat })
    this.#count({ directories: 1 })
  }

  async unpackEntry(path: string, { path: source, stat }: WalkEntry): Promise<void> {
    const there = await this.#statIfPresent(path)
    if (stat.type === 'symlink') return this.#unpackLink(path, source, there)
    if (stat.type !== 'file') return
    if (there !== undefined && isUnchanged(there, stat)) return this.#count({ unchanged: 1 })
    if (there !== undefined && there.type !== 'file')
      throw new VfsError('EEXIST', path, { op: 'write', detail: `there is a ${there.type} in the way` })
    this.#reserve(path, stat.size)
    await this.#target.write(path, this.#from.read(source, {}, this.#ctx), toModeOption(stat), this.#ctx)
    await this.#setAttributes(path, stat)
    this.#count({ files: 1, bytes: stat.size })
  }

  /** Last, because whatever is made in a directory changes its time. */
  async setDirectoryTimes(): Promise<void> {
    for (const { path, stat } of this.#directories) await this.#setAttributes(path, stat)
  }

  #reserve(path: string, bytes: number): void {
    this.#reservedBytes += bytes
    if (this.#reservedBytes <= this.#maxBytes) return
    const detail = `the content has more than ${this.#maxBytes} bytes; raise maxBytes`
    throw new VfsError('EFBIG', path, { op: 'write', detail })
  }

  async #unpackLink(path: string, source: string, there: Stat | undefined): Promise<void> {
    const [from, target] = [this.#from, this.#target]
    if (!isLinkable(from) || !isLinkable(target))
      throw new VfsError('ENOTSUP', path, { op: 'symlink', detail: 'links cannot be kept here' })
    const leads = await from.readlink(source, this.#ctx)
    if (there?.type === 'symlink' && (await target.readlink(path, this.#ctx)) === leads)
      return this.#count({ unchanged: 1 })
    await target.symlink(leads, path, this.#ctx)
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

function isUnchanged(there: Stat, stat: Stat): boolean {
  return (
    there.type === 'file' &&
    there.size === stat.size &&
    there.mtime.getTime() === stat.mtime.getTime() &&
    (stat.mode === null || there.mode === stat.mode)
  )
}
