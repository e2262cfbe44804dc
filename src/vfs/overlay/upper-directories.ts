import { withoutSignal } from '../events.ts'
import type { CallContext, FileSystem, Stat } from '../file-system.ts'
import { statIfPresent } from '../helpers/stat-if-present.ts'
import { ancestors } from '../path.ts'
import { isAttributed } from '../protocols.ts'
import { applyAttributes, type TargetAttributes } from './apply-attributes.ts'

/** Starts a series of lookups in visible lower. Each lookup reuses the results of those before. */
type StatBelow = (ctx?: CallContext) => (path: string) => Promise<Stat | null>

/** Running operations in a directory. */
interface DirectoryUse {
  users: number
  /** True if one of them changes the directory, which then gets a new time. */
  isChanging: boolean
  /** The stat before the first operation that keeps the time. */
  before?: Stat
}

/**
 * The directories of upper. A directory keeps lower's mode and time until a name in it is added or removed. Copying an
 * entry up from lower is no change, so the directory's time is restored.
 */
export class UpperDirectories {
  readonly #upper: FileSystem
  readonly #statBelow: StatBelow
  readonly #uses = new Map<string, DirectoryUse>()
  /** Steps that restore a time run one after another, so that no entry is added before the directory has its time. */
  #lastTask: Promise<unknown> = Promise.resolve()

  constructor(upper: FileSystem, statBelow: StatBelow) {
    this.#upper = upper
    this.#statBelow = statBelow
  }

  /** True if upper's directories carry the overlay's attributes; elsewhere they exist only with their files. */
  get keepsAttributes(): boolean {
    return this.#upper.capabilities.has('mkdir') && isAttributed(this.#upper)
  }

  /** Copies a directory and its ancestors from lower to upper, each with its mode and time. */
  copyUp(directory: string, ctx?: CallContext): Promise<void> {
    if (directory === '/' || !this.#upper.capabilities.has('mkdir')) return Promise.resolve()
    return this.#runExclusive(() => this.#copyUp(directory, ctx))
  }

  /** Copies a directory up, then runs an operation that changes it. */
  runChange<T>(directory: string, change: () => Promise<T>, ctx?: CallContext): Promise<T> {
    return this.#runWithUse(directory, async (use) => {
      // Set before the copy-up waits: from now on no other operation restores the time.
      use.isChanging = true
      await this.copyUp(directory, ctx)
      return change()
    })
  }

  /** Runs an operation on an existing name in a directory, and keeps the directory's time. */
  runKeepingTime(directory: string, work: () => Promise<void>, ctx?: CallContext): Promise<void> {
    if (directory === '/' || !this.keepsAttributes) return this.copyUp(directory, ctx).then(work)
    return this.#runWithUse(directory, async (use) => {
      const stat = await this.#runExclusive(async () => {
        await this.#copyUp(directory, ctx)
        use.before ??= await this.#upper.stat(directory, ctx)
        return use.before
      })
      await work()
      await this.#runExclusive(() => this.#restoreTime({ path: directory, stat }, withoutSignal(ctx)))
    })
  }

  async #copyUp(directory: string, ctx?: CallContext): Promise<void> {
    const statLower = this.#statBelow(ctx)
    const made: TargetAttributes[] = []
    let above: TargetAttributes | undefined
    for (const path of ancestors(directory).slice(1).concat(directory)) {
      const own = await statIfPresent(this.#upper, path, ctx)
      if (own !== null) {
        above = { path, stat: own }
        continue
      }
      const lower = await statLower(path)
      if (lower === null) break
      const mode = typeof lower.mode === 'number' ? { mode: lower.mode } : {}
      await this.#upper.mkdir(path, { parents: true, ...mode }, ctx)
      made.push({ path, stat: lower })
    }
    // Creating each directory changed the time of the one above.
    if (above !== undefined && made.length > 0) await this.#restoreTime(above, ctx)
    for (const target of made) await applyAttributes(this.#upper, target, ctx)
  }

  async #restoreTime(kept: TargetAttributes, ctx?: CallContext): Promise<void> {
    if (this.#uses.get(kept.path)?.isChanging !== true) await applyAttributes(this.#upper, kept, ctx)
  }

  async #runWithUse<T>(directory: string, work: (use: DirectoryUse) => Promise<T>): Promise<T> {
    const use = this.#uses.get(directory) ?? { users: 0, isChanging: false }
    this.#uses.set(directory, use)
    use.users++
    try {
      return await work(use)
    } finally {
      use.users--
      if (use.users === 0) this.#uses.delete(directory)
    }
  }

  #runExclusive<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#lastTask.then(work)
    this.#lastTask = done.catch(() => {})
    return done
  }
}
