import { withoutSignal } from '../events.ts'
import type { CallContext, FileSystem, Stat } from '../file-system.ts'
import { statIfPresent } from '../helpers/stat-if-present.ts'
import { ancestors } from '../path.ts'
import { isAttributed } from '../protocols.ts'
import { applyAttributes, type TargetAttributes } from './apply-attributes.ts'

/** Begins to look at what shows of lower, path by path: what was found on the way to one is known for the next. */
type StatBelow = (ctx?: CallContext) => (path: string) => Promise<Stat | null>

/** Running operations in a directory. */
interface DirectoryUse {
  users: number
  /** True if one of them changes the directory, which then gets a new time. */
  isChanging: boolean
  /** As it was when the first of the others came. */
  before?: Stat
}

/**
 * The directories of upper, each with the mode and time it has below until a name in it comes or goes. That upper gets
 * what lower has is no change of anything: the time of the directory is put back.
 */
export class UpperDirectories {
  readonly #upper: FileSystem
  readonly #statBelow: StatBelow
  readonly #uses = new Map<string, DirectoryUse>()
  /** Whatever sets a time back is done one after another, so that nothing is put into a directory before it has its time. */
  #lastTask: Promise<unknown> = Promise.resolve()

  constructor(upper: FileSystem, lookBelow: StatBelow) {
    this.#upper = upper
    this.#statBelow = lookBelow
  }

  /** True if upper's directories carry the overlay's attributes; elsewhere they exist only with their files. */
  get keepAttributes(): boolean {
    return this.#upper.capabilities.has('mkdir') && isAttributed(this.#upper)
  }

  /** Makes what there is of a directory in lower in upper too, with all above it, each with the mode and time it has below. */
  copyUp(directory: string, ctx?: CallContext): Promise<void> {
    if (directory === '/' || !this.#upper.capabilities.has('mkdir')) return Promise.resolve()
    return this.#runExclusive(() => this.#copyUp(directory, ctx))
  }

  /** Does what changes a directory, once that is in upper. */
  runChange<T>(directory: string, change: () => Promise<T>, ctx?: CallContext): Promise<T> {
    return this.#runWithUse(directory, async (busy) => {
      // Said before its turn comes: from then on nobody sets the time back.
      busy.isChanging = true
      await this.copyUp(directory, ctx)
      return change()
    })
  }

  /** Does what puts something into a directory that the overlay has there already. */
  runKeepingTime(directory: string, work: () => Promise<void>, ctx?: CallContext): Promise<void> {
    if (directory === '/' || !this.keepAttributes) return this.copyUp(directory, ctx).then(work)
    return this.#runWithUse(directory, async (busy) => {
      const stat = await this.#runExclusive(async () => {
        await this.#copyUp(directory, ctx)
        busy.before ??= await this.#upper.stat(directory, ctx)
        return busy.before
      })
      await work()
      await this.#runExclusive(() => this.#restoreTime({ path: directory, stat }, withoutSignal(ctx)))
    })
  }

  async #copyUp(directory: string, ctx?: CallContext): Promise<void> {
    const below = this.#statBelow(ctx)
    const made: TargetAttributes[] = []
    let above: TargetAttributes | undefined
    for (const path of ancestors(directory).slice(1).concat(directory)) {
      const own = await statIfPresent(this.#upper, path, ctx)
      if (own !== null) {
        above = { path, stat: own }
        continue
      }
      const lower = await below(path)
      if (lower === null) break
      const mode = typeof lower.mode === 'number' ? { mode: lower.mode } : {}
      await this.#upper.mkdir(path, { parents: true, ...mode }, ctx)
      made.push({ path, stat: lower })
    }
    // Each got the time of the next one's making.
    if (above !== undefined && made.length > 0) await this.#restoreTime(above, ctx)
    for (const one of made) await applyAttributes(this.#upper, one, ctx)
  }

  async #restoreTime(kept: TargetAttributes, ctx?: CallContext): Promise<void> {
    if (this.#uses.get(kept.path)?.isChanging !== true) await applyAttributes(this.#upper, kept, ctx)
  }

  async #runWithUse<T>(directory: string, work: (busy: DirectoryUse) => Promise<T>): Promise<T> {
    const busy = this.#uses.get(directory) ?? { users: 0, isChanging: false }
    this.#uses.set(directory, busy)
    busy.users++
    try {
      return await work(busy)
    } finally {
      busy.users--
      if (busy.users === 0) this.#uses.delete(directory)
    }
  }

  #runExclusive<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#lastTask.then(work)
    this.#lastTask = done.catch(() => {})
    return done
  }
}
