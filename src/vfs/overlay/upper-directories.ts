import { withoutSignal } from '../events.ts'
import type { CallContext, FileSystem, Stat } from '../file-system.ts'
import { statIfPresent } from '../helpers/presence.ts'
import { ancestors } from '../path.ts'
import { isAttributed } from '../protocols.ts'
import { type Settled, settle } from './attributes.ts'

/** Begins to look at what shows of lower, path by path: what was found on the way to one is known for the next. */
type LookBelow = (ctx?: CallContext) => (path: string) => Promise<Stat | null>

/** What is under way in a directory. */
interface Busy {
  users: number
  /** Whether one of them changes it: then it has the time of that. */
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
  readonly #lookBelow: LookBelow
  readonly #busy = new Map<string, Busy>()
  /** Whatever sets a time back is done one after another, so that nothing is put into a directory before it has its time. */
  #turns: Promise<unknown> = Promise.resolve()

  constructor(upper: FileSystem, lookBelow: LookBelow) {
    this.#upper = upper
    this.#lookBelow = lookBelow
  }

  /** Whether they say what the overlay's are like: elsewhere they come and go with their files. */
  get areKept(): boolean {
    return this.#upper.capabilities.has('mkdir') && isAttributed(this.#upper)
  }

  /** Makes what there is of a directory in lower in upper too, with all above it, each with the mode and time it has below. */
  copyUp(directory: string, ctx?: CallContext): Promise<void> {
    if (directory === '/' || !this.#upper.capabilities.has('mkdir')) return Promise.resolve()
    return this.#inTurn(() => this.#copyUp(directory, ctx))
  }

  /** Does what changes a directory, once that is in upper. */
  changing<T>(directory: string, change: () => Promise<T>, ctx?: CallContext): Promise<T> {
    return this.#using(directory, async (busy) => {
      // Said before its turn comes: from then on nobody sets the time back.
      busy.isChanging = true
      await this.copyUp(directory, ctx)
      return change()
    })
  }

  /** Does what puts something into a directory that the overlay has there already. */
  keeping(directory: string, work: () => Promise<void>, ctx?: CallContext): Promise<void> {
    if (directory === '/' || !this.areKept) return this.copyUp(directory, ctx).then(work)
    return this.#using(directory, async (busy) => {
      const stat = await this.#inTurn(async () => {
        await this.#copyUp(directory, ctx)
        busy.before ??= await this.#upper.stat(directory, ctx)
        return busy.before
      })
      await work()
      await this.#inTurn(() => this.#putBack({ path: directory, stat }, withoutSignal(ctx)))
    })
  }

  async #copyUp(directory: string, ctx?: CallContext): Promise<void> {
    const below = this.#lookBelow(ctx)
    const made: Settled[] = []
    let above: Settled | undefined
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
    if (above !== undefined && made.length > 0) await this.#putBack(above, ctx)
    for (const one of made) await settle(this.#upper, one, ctx)
  }

  async #putBack(kept: Settled, ctx?: CallContext): Promise<void> {
    if (this.#busy.get(kept.path)?.isChanging !== true) await settle(this.#upper, kept, ctx)
  }

  async #using<T>(directory: string, work: (busy: Busy) => Promise<T>): Promise<T> {
    const busy = this.#busy.get(directory) ?? { users: 0, isChanging: false }
    this.#busy.set(directory, busy)
    busy.users++
    try {
      return await work(busy)
    } finally {
      busy.users--
      if (busy.users === 0) this.#busy.delete(directory)
    }
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#turns.then(work)
    this.#turns = done.catch(() => {})
    return done
  }
}
