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
 * Keeps places within their quotas: a change that would take one beyond is ENOSPC, and nothing of it is stored.
 * The system is counted, not refused. Exact for what passes here; what others change is noticed when it is counted
 * again, at the latest before something is refused.
 */
export class Quotas {
  readonly #fs: FileSystem
  readonly #quotas: readonly PathQuota[]
  readonly #now: () => number
  readonly #zones = new Map<string, QuotaZone>()
  #addedNames = 0

  constructor(fs: FileSystem, quotas: readonly PathQuota[], now: () => number = Date.now) {
    this.#fs = fs
    this.#quotas = quotas.map((quota) => ({ ...quota, root: normalize(quota.root) }))
    this.#now = now
  }

  get isEmpty(): boolean {
    return this.#quotas.length === 0
  }

  /** A change of one file's content. What has to be stored is handed on, and breaks off if there is too much of it. */
  async store(
    asker: QuotaRequest,
    content: Content,
    run: (content: Content) => Promise<void>,
  ): Promise<void> {
    if (this.isEmpty) return run(content)
    const real = await this.#resolvePath(asker, true)
    const zones = this.#getZones(real)
    const isShared = await this.#hasHardLinks(real, asker)
    await this.#storeIn(zones, { ...asker, path: real }, content, run)
    if (isShared) this.#invalidateAll()
  }

  async #storeIn(
    zones: readonly QuotaZone[],
    asker: QuotaRequest,
    content: Content,
    run: (content: Content) => Promise<void>,
  ): Promise<void> {
    if (zones.length === 0) return run(content)
    const old = await measureAmount(this.#fs, asker.path, asker.ctx)
    const base = asker.op === 'append' ? { bytes: 0, files: 1 - old.files } : subtractAmounts(ONE_FILE, old)
    await using change = new QuotaChange(zones, asker)
    await change.reserve({ ...base, bytes: base.bytes + measureContent(content) })
    await run(isInMemory(content) ? content : meterStream(content, base, change))
    change.complete()
  }

  /** A new name, such as a link. */
  async add(asker: QuotaRequest, run: () => Promise<void>): Promise<void> {
    if (this.isEmpty) return run()
    await using change = new QuotaChange(this.#getZones(await this.#resolvePath(asker, false)), asker)
    await change.reserve(ONE_FILE)
    await run()
    change.complete()
  }

  /** A second name for a file: a place counts the file under each of its names. */
  async addName(asker: QuotaRequest, existing: string, run: () => Promise<void>): Promise<void> {
    if (this.isEmpty) return run()
    const real = await this.#resolvePath({ ...asker, path: existing }, false)
    await using change = new QuotaChange(this.#getZones(await this.#resolvePath(asker, false)), asker)
    await change.reserve(await measureAmount(this.#fs, real, asker.ctx))
    await run()
    this.#addedNames++
    change.complete()
  }

  async remove(asker: QuotaRequest, run: () => Promise<void>): Promise<void> {
    if (this.isEmpty) return run()
    const real = await this.#resolvePath(asker, false)
    const zones = this.#getZones(real)
    this.#invalidateBelow(real)
    const old = await measureAmount(this.#fs, real, asker.ctx)
    await using change = new QuotaChange(zones, asker)
    await change.reserve(subtractAmounts(NO_AMOUNT, old))
    await run()
    change.complete()
  }

  /** A move: within one place it adds nothing, from one to another it needs room there. */
  async move(asker: QuotaRequest, to: string, run: () => Promise<void>): Promise<void> {
    if (this.isEmpty) return run()
    const [from, target] = [
      await this.#resolvePath(asker, false),
      await this.#resolvePath({ ...asker, path: to }, false),
    ]
    const [left, entered] = [this.#getZones(from), this.#getZones(target)]
    for (const path of [from, target]) this.#invalidateBelow(path)
    if (left.length === 0 && entered.length === 0) return run()
    const [moved, replaced] = [
      await measureAmount(this.#fs, from, asker.ctx),
      from === target ? NO_AMOUNT : await measureAmount(this.#fs, target, asker.ctx),
    ]
    await using leaving = new QuotaChange(excludeZones(left, entered), asker)
    await using entering = new QuotaChange(excludeZones(entered, left), { ...asker, path: to })
    await using staying = new QuotaChange(excludeZones(entered, excludeZones(entered, left)), asker)
    await entering.reserve(subtractAmounts(moved, replaced))
    await leaving.reserve(subtractAmounts(NO_AMOUNT, moved))
    await staying.reserve(subtractAmounts(NO_AMOUNT, replaced))
    await run()
    for (const change of [leaving, entering, staying]) change.complete()
  }

  /** A file opened to be changed, each of whose changes is metered. */
  async open(asker: QuotaRequest, options: OpenOptions, run: () => Promise<FileHandle>): Promise<FileHandle> {
    if (this.isEmpty) return run()
    const real = await this.#resolvePath(asker, true)
    const zones = this.#getZones(real)
    const [isShared, addedNames] = [await this.#hasHardLinks(real, asker), this.#addedNames]
    if (zones.length === 0 && !isShared) return run()
    const old = await measureAmount(this.#fs, real, asker.ctx)
    await using change = new QuotaChange(zones, asker)
    await change.reserve({
      bytes: options.truncate ? -old.bytes : 0,
      files: options.create ? 1 - old.files : 0,
    })
    const handle = await run()
    change.complete()
    if (isShared) this.#invalidateAll()
    return new MeteredHandle(
      handle,
      options,
      () => new QuotaChange(zones, asker),
      () => {
        if (isShared || this.#addedNames !== addedNames) this.#invalidateAll()
      },
    )
  }

  /** Whether a file has more than one name: then it is counted in places that a change under this one does not know. */
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

  /** Only the system comes here by a path that may have links in it. */
  async #resolvePath({ path, ctx }: QuotaRequest, followLast: boolean): Promise<string> {
    if (ctx?.links === 'refuse' || !isLinkable(this.#fs)) return path
    return this.#fs.realpath(path, { followLast }, ctx)
  }

  /** What holds places with a quota is moved or removed by the system alone. */
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

/** The place a quota counts that a path lies below. */
function findQuotaRoot({ root, each }: PathQuota, path: string): string | undefined {
  const above = [...ancestors(path), path]
  const at = above.indexOf(root)
  if (at === -1) return undefined
  return each ? above[at + 1] : root
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

/** A stream that takes room as it goes. When there is none left it fails, and the write with it. */
async function* meterStream(content: Content, base: Amount, change: QuotaChange): AsyncGenerator<Uint8Array> {
  let bytes = base.bytes
  for await (const chunk of contentChunks(content)) {
    bytes += chunk.length
    await change.reserve({ ...base, bytes })
    yield chunk
  }
}
