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
import { type Amount, difference, measure, NOTHING } from './amount.ts'
import { MeteredHandle } from './metered-handle.ts'
import { QuotaChange } from './quota-change.ts'
import { type Asker, type Quota, QuotaZone } from './quota-zone.ts'

const ONE_FILE: Amount = { bytes: 0, files: 1 }

/**
 * Keeps places within their quotas: a change that would take one beyond is ENOSPC, and nothing of it is stored.
 * The system is counted, not refused. Exact for what passes here; what others change is noticed when it is counted
 * again, at the latest before something is refused.
 */
export class Quotas {
  readonly #fs: FileSystem
  readonly #quotas: readonly Quota[]
  readonly #now: () => number
  readonly #zones = new Map<string, QuotaZone>()
  #addedNames = 0

  constructor(fs: FileSystem, quotas: readonly Quota[], now: () => number = Date.now) {
    this.#fs = fs
    this.#quotas = quotas.map((quota) => ({ ...quota, root: normalize(quota.root) }))
    this.#now = now
  }

  get isEmpty(): boolean {
    return this.#quotas.length === 0
  }

  /** A change of one file's content. What has to be stored is handed on, and breaks off if there is too much of it. */
  async store(asker: Asker, content: Content, run: (content: Content) => Promise<void>): Promise<void> {
    if (this.isEmpty) return run(content)
    const real = await this.#real(asker, true)
    const zones = this.#zonesAt(real)
    const isShared = await this.#isShared(real, asker)
    await this.#storeIn(zones, { ...asker, path: real }, content, run)
    if (isShared) this.#forgetAll()
  }

  async #storeIn(
    zones: readonly QuotaZone[],
    asker: Asker,
    content: Content,
    run: (content: Content) => Promise<void>,
  ): Promise<void> {
    if (zones.length === 0) return run(content)
    const old = await measure(this.#fs, asker.path, asker.ctx)
    const base = asker.op === 'append' ? { bytes: 0, files: 1 - old.files } : difference(ONE_FILE, old)
    await using change = new QuotaChange(zones, asker)
    await change.hold({ ...base, bytes: base.bytes + sizeOf(content) })
    await run(isWhole(content) ? content : metered(content, base, change))
    change.succeed()
  }

  /** A new name, such as a link. */
  async add(asker: Asker, run: () => Promise<void>): Promise<void> {
    if (this.isEmpty) return run()
    await using change = new QuotaChange(this.#zonesAt(await this.#real(asker, false)), asker)
    await change.hold(ONE_FILE)
    await run()
    change.succeed()
  }

  /** A second name for a file: a place counts the file under each of its names. */
  async addName(asker: Asker, existing: string, run: () => Promise<void>): Promise<void> {
    if (this.isEmpty) return run()
    const real = await this.#real({ ...asker, path: existing }, false)
    await using change = new QuotaChange(this.#zonesAt(await this.#real(asker, false)), asker)
    await change.hold(await measure(this.#fs, real, asker.ctx))
    await run()
    this.#addedNames++
    change.succeed()
  }

  async remove(asker: Asker, run: () => Promise<void>): Promise<void> {
    if (this.isEmpty) return run()
    const real = await this.#real(asker, false)
    const zones = this.#zonesAt(real)
    this.#forgetBelow(real)
    const old = await measure(this.#fs, real, asker.ctx)
    await using change = new QuotaChange(zones, asker)
    await change.hold(difference(NOTHING, old))
    await run()
    change.succeed()
  }

  /** A move: within one place it adds nothing, from one to another it needs room there. */
  async move(asker: Asker, to: string, run: () => Promise<void>): Promise<void> {
    if (this.isEmpty) return run()
    const [from, target] = [await this.#real(asker, false), await this.#real({ ...asker, path: to }, false)]
    const [left, entered] = [this.#zonesAt(from), this.#zonesAt(target)]
    for (const path of [from, target]) this.#forgetBelow(path)
    if (left.length === 0 && entered.length === 0) return run()
    const [moved, replaced] = [
      await measure(this.#fs, from, asker.ctx),
      from === target ? NOTHING : await measure(this.#fs, target, asker.ctx),
    ]
    await using leaving = new QuotaChange(without(left, entered), asker)
    await using entering = new QuotaChange(without(entered, left), { ...asker, path: to })
    await using staying = new QuotaChange(without(entered, without(entered, left)), asker)
    await entering.hold(difference(moved, replaced))
    await leaving.hold(difference(NOTHING, moved))
    await staying.hold(difference(NOTHING, replaced))
    await run()
    for (const change of [leaving, entering, staying]) change.succeed()
  }

  /** A file opened to be changed, each of whose changes is metered. */
  async open(asker: Asker, options: OpenOptions, run: () => Promise<FileHandle>): Promise<FileHandle> {
    if (this.isEmpty) return run()
    const real = await this.#real(asker, true)
    const zones = this.#zonesAt(real)
    const [isShared, addedNames] = [await this.#isShared(real, asker), this.#addedNames]
    if (zones.length === 0 && !isShared) return run()
    const old = await measure(this.#fs, real, asker.ctx)
    await using change = new QuotaChange(zones, asker)
    await change.hold({
      bytes: options.truncate ? -old.bytes : 0,
      files: options.create ? 1 - old.files : 0,
    })
    const handle = await run()
    change.succeed()
    if (isShared) this.#forgetAll()
    return new MeteredHandle(
      handle,
      options,
      () => new QuotaChange(zones, asker),
      () => {
        if (isShared || this.#addedNames !== addedNames) this.#forgetAll()
      },
    )
  }

  /** Whether a file has more than one name: then it is counted in places that a change under this one does not know. */
  async #isShared(path: string, { ctx }: Asker): Promise<boolean> {
    if (!isHardLinkable(this.#fs)) return false
    try {
      return (await this.#fs.identity(path, ctx)).nlink > 1
    } catch (error) {
      if (isVfsError(error)) return false
      throw error
    }
  }

  #forgetAll(): void {
    for (const zone of this.#zones.values()) zone.forget()
  }

  /** Only the system comes here by a path that may have links in it. */
  async #real({ path, ctx }: Asker, followLast: boolean): Promise<string> {
    if (ctx?.links === 'refuse' || !isLinkable(this.#fs)) return path
    return this.#fs.realpath(path, { followLast }, ctx)
  }

  /** What holds places with a quota is moved or removed by the system alone. */
  #forgetBelow(path: string): void {
    for (const zone of this.#zones.values()) if (isWithin(zone.root, path)) zone.forget()
  }

  #zonesAt(path: string): QuotaZone[] {
    return this.#quotas.flatMap((quota, index) => {
      const root = rootFor(quota, path)
      if (root === undefined) return []
      const key = `${index} ${root}`
      const zone = this.#zones.get(key) ?? new QuotaZone(root, quota, this.#fs, this.#now)
      this.#zones.set(key, zone)
      return [zone]
    })
  }
}

/** The place a quota counts that a path lies below. */
function rootFor({ root, each }: Quota, path: string): string | undefined {
  const above = [...ancestors(path), path]
  const at = above.indexOf(root)
  if (at === -1) return undefined
  return each ? above[at + 1] : root
}

function without(zones: readonly QuotaZone[], others: readonly QuotaZone[]): QuotaZone[] {
  return zones.filter((zone) => !others.includes(zone))
}

function isWhole(content: Content): content is string | Uint8Array {
  return typeof content === 'string' || content instanceof Uint8Array
}

function sizeOf(content: Content): number {
  if (typeof content === 'string') return Buffer.byteLength(content)
  return content instanceof Uint8Array ? content.length : 0
}

/** A stream that takes room as it goes. When there is none left it fails, and the write with it. */
async function* metered(content: Content, base: Amount, change: QuotaChange): AsyncGenerator<Uint8Array> {
  let bytes = base.bytes
  for await (const chunk of contentChunks(content)) {
    bytes += chunk.length
    await change.hold({ ...base, bytes })
    yield chunk
  }
}
