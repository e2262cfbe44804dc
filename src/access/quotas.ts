import {
  ancestors,
  type Content,
  contentChunks,
  type FileHandle,
  type FileSystem,
  isHardLinkable,
  isLinkable,
  isVfsError,
  isWithin,
  normalize,
  type OpenOptions,
} from '../vfs/index.ts'
import { type Amount, measureAmount, NO_AMOUNT, subtractAmounts } from './amount.ts'
import { MeteredHandle } from './metered-handle.ts'
import { QuotaChange } from './quota-change.ts'
import { type PathQuota, type QuotaRequest, QuotaZone } from './quota-zone.ts'

const ONE_FILE: Amount = { bytes: 0, files: 1 }

/**
 * Enforces quotas: a change that would exceed one is ENOSPC, and nothing of it is stored.
 * The system's changes count but are not refused. Exact for changes made here; changes by other writers show at the
 * next count. A count that refuses a change is at most a second old.
 */
export class Quotas {
  readonly #fs: FileSystem
  readonly #quotas: readonly PathQuota[]
  readonly #now: () => number
  readonly #zones = new Map<string, QuotaZone>()
  /** Number of names that files got here: an open file may have another one since it was opened. */
  #addedNames = 0

  constructor(fs: FileSystem, quotas: readonly PathQuota[], now: () => number = Date.now) {
    this.#fs = fs
    this.#quotas = quotas.map((quota) => ({ ...quota, root: normalize(quota.root) }))
    this.#now = now
  }

  get isEmpty(): boolean {
    return this.#quotas.length === 0
  }

  /** Stores content of one file. Passes the metered content on, which fails once it exceeds the quota. */
  async store(
    request: QuotaRequest,
    content: Content,
    run: (content: Content) => Promise<void>,
  ): Promise<void> {
    if (this.isEmpty) return run(content)
    const real = await this.#resolvePath(request, true)
    const zones = this.#getZones(real)
    const isShared = await this.#hasHardLinks(real, request)
    await this.#storeIn(zones, { ...request, path: real }, content, run)
    if (isShared) this.#invalidateAll()
  }

  async #storeIn(
    zones: readonly QuotaZone[],
    request: QuotaRequest,
    content: Content,
    run: (content: Content) => Promise<void>,
  ): Promise<void> {
    if (zones.length === 0) return run(content)
    const old = await measureAmount(this.#fs, request.path, request.ctx)
    const base = request.op === 'append' ? { bytes: 0, files: 1 - old.files } : subtractAmounts(ONE_FILE, old)
    await using change = new QuotaChange(zones, request)
    await change.reserve({ ...base, bytes: base.bytes + measureContent(content) })
    await run(isInMemory(content) ? content : meterStream(content, base, change))
    change.complete()
  }

  /** Adds a new name, such as a link. */
  async add(request: QuotaRequest, run: () => Promise<void>): Promise<void> {
    if (this.isEmpty) return run()
    await using change = new QuotaChange(this.#getZones(await this.#resolvePath(request, false)), request)
    await change.reserve(ONE_FILE)
    await run()
    change.complete()
  }

  /** Adds a second name for a file. A zone counts the file under each of its names. */
  async addName(request: QuotaRequest, existing: string, run: () => Promise<void>): Promise<void> {
    if (this.isEmpty) return run()
    const real = await this.#resolvePath({ ...request, path: existing }, false)
    await using change = new QuotaChange(this.#getZones(await this.#resolvePath(request, false)), request)
    await change.reserve(await measureAmount(this.#fs, real, request.ctx))
    await run()
    this.#addedNames++
    change.complete()
  }

  async remove(request: QuotaRequest, run: () => Promise<void>): Promise<void> {
    if (this.isEmpty) return run()
    const real = await this.#resolvePath(request, false)
    const zones = this.#getZones(real)
    this.#invalidateBelow(real)
    const old = await measureAmount(this.#fs, real, request.ctx)
    await using change = new QuotaChange(zones, request)
    await change.reserve(subtractAmounts(NO_AMOUNT, old))
    await run()
    change.complete()
  }

  /** Moves a file or a tree. A move within a zone adds nothing; one into another zone needs room there. */
  async move(request: QuotaRequest, to: string, run: () => Promise<void>): Promise<void> {
    if (this.isEmpty) return run()
    const [from, target] = [
      await this.#resolvePath(request, false),
      await this.#resolvePath({ ...request, path: to }, false),
    ]
    const [left, entered] = [this.#getZones(from), this.#getZones(target)]
    for (const path of [from, target]) this.#invalidateBelow(path)
    if (left.length === 0 && entered.length === 0) return run()
    const [moved, replaced] = [
      await measureAmount(this.#fs, from, request.ctx),
      from === target ? NO_AMOUNT : await measureAmount(this.#fs, target, request.ctx),
    ]
    const shared = entered.filter((zone) => left.includes(zone))
    await using leaving = new QuotaChange(excludeZones(left, shared), request)
    await using entering = new QuotaChange(excludeZones(entered, shared), { ...request, path: to })
    await using staying = new QuotaChange(shared, request)
    await entering.reserve(subtractAmounts(moved, replaced))
    await leaving.reserve(subtractAmounts(NO_AMOUNT, moved))
    await staying.reserve(subtractAmounts(NO_AMOUNT, replaced))
    await run()
    for (const change of [leaving, entering, staying]) change.complete()
  }

  /** Opens a file for changes and meters each of them. */
  async open(
    request: QuotaRequest,
    options: OpenOptions,
    run: () => Promise<FileHandle>,
  ): Promise<FileHandle> {
    if (this.isEmpty) return run()
    const real = await this.#resolvePath(request, true)
    const zones = this.#getZones(real)
    const [isShared, addedNames] = [await this.#hasHardLinks(real, request), this.#addedNames]
    if (zones.length === 0 && !isShared) return run()
    const old = await measureAmount(this.#fs, real, request.ctx)
    await using change = new QuotaChange(zones, request)
    await change.reserve({
      bytes: options.truncate ? -old.bytes : 0,
      files: options.create ? 1 - old.files : 0,
    })
    const handle = await run()
    change.complete()
    if (isShared) this.#invalidateAll()
    return new MeteredHandle(
      request.path,
      handle,
      options,
      () => new QuotaChange(zones, request),
      () => {
        if (isShared || this.#addedNames !== addedNames) this.#invalidateAll()
      },
    )
  }

  /**
   * True if a file has several names. Other zones may then count it too, and a change under this name does not
   * reach them.
   */
  async #hasHardLinks(path: string, { ctx }: QuotaRequest): Promise<boolean> {
    if (!isHardLinkable(this.#fs)) return false
    try {
      return (await this.#fs.identity(path, ctx)).nlink > 1
    } catch (error) {
      if (isVfsError(error)) return false
      throw error
    }
  }

  #invalidateAll(): void {
    for (const zone of this.#zones.values()) zone.invalidate()
  }

  /** Resolves links. Only paths that the gate did not check can contain any here, such as those of the system. */
  async #resolvePath({ path, ctx }: QuotaRequest, followLast: boolean): Promise<string> {
    if (ctx?.links === 'refuse' || !isLinkable(this.#fs)) return path
    return this.#fs.realpath(path, { followLast }, ctx)
  }

  /** Discards the counts at and below a path that is about to be moved or removed. */
  #invalidateBelow(path: string): void {
    for (const zone of this.#zones.values()) if (isWithin(zone.root, path)) zone.invalidate()
  }

  #getZones(path: string): QuotaZone[] {
    return this.#quotas.flatMap((quota, index) => {
      const root = findQuotaRoot(quota, path)
      if (root === undefined) return []
      const key = `${index} ${root}`
      const zone = this.#zones.get(key) ?? new QuotaZone(root, quota, this.#fs, this.#now)
      this.#zones.set(key, zone)
      return [zone]
    })
  }
}

/** Returns the root below which a quota counts a path; undefined if the quota does not apply to it. */
function findQuotaRoot({ root, each }: PathQuota, path: string): string | undefined {
  const lineage = [...ancestors(path), path]
  const index = lineage.indexOf(root)
  if (index === -1) return undefined
  return each ? lineage[index + 1] : root
}

function excludeZones(zones: readonly QuotaZone[], others: readonly QuotaZone[]): QuotaZone[] {
  return zones.filter((zone) => !others.includes(zone))
}

function isInMemory(content: Content): content is string | Uint8Array {
  return typeof content === 'string' || content instanceof Uint8Array
}

function measureContent(content: Content): number {
  if (typeof content === 'string') return Buffer.byteLength(content)
  return content instanceof Uint8Array ? content.length : 0
}

/** Reserves quota as the stream goes. Without room the stream fails, and the write with it. */
async function* meterStream(content: Content, base: Amount, change: QuotaChange): AsyncGenerator<Uint8Array> {
  let bytes = base.bytes
  for await (const chunk of contentChunks(content)) {
    bytes += chunk.length
    await change.reserve({ ...base, bytes })
    yield chunk
  }
}
