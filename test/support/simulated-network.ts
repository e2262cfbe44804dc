import type { Batch, Engine, MemoryEngine } from '../../src/store/index.ts'

/** What becomes of a call on its way to the store and back. */
type Fate = 'arrives' | 'is lost' | 'answer is lost' | 'arrives late' | 'arrives twice'

/** A defect of the network, which a check has to find. */
export type NetworkFlaw = 'a commit arrives after later calls' | 'a refused commit is acknowledged'

export interface NetworkOptions {
  /** Share of the calls that do not simply arrive. */
  readonly trouble: number
  readonly flaw?: NetworkFlaw | undefined
}

/**
 * A store and the connections of several machines to it, on a simulated network. Calls and answers overtake each other,
 * arrive twice or not at all. The same seed always leads to the same order.
 */
export class SimulatedNetwork {
  readonly #store: MemoryEngine
  readonly #random: () => number
  readonly #options: NetworkOptions
  readonly #messages: (() => void)[] = []
  #isDelivering = false

  constructor(store: MemoryEngine, random: () => number, options: NetworkOptions) {
    this.#store = store
    this.#random = random
    this.#options = options
  }

  /** Opens a connection: an engine whose calls travel through the network. */
  connect(): Engine {
    const late: Batch[] = []
    const call = (name: string, args: readonly unknown[]) => this.#call(name, args, late)
    return new Proxy<Engine>(this.#store, {
      get: (store, name) => {
        const member: unknown = Reflect.get(store, name, store)
        if (name === 'isSync' || name === 'groupCommit') return undefined
        if (typeof member !== 'function' || typeof name !== 'string') return member
        // The store stays for the other connections.
        if (name === 'close') return async () => {}
        return (...args: unknown[]) => call(name, args)
      },
    })
  }

  #call(name: string, args: readonly unknown[], late: Batch[]): Promise<unknown> {
    const { promise, resolve, reject } = Promise.withResolvers<unknown>()
    const answer = (value: unknown) => this.#post(() => resolve(value))
    const fail = () => this.#post(() => reject(new Error(`connection reset (${name})`)))
    this.#post(() => {
      // An engine finishes a commit before it serves another call of its process.
      if (this.#options.flaw !== 'a commit arrives after later calls') this.#deliverLate(late)
      const [batch] = args
      const fate = this.#chooseFate(name === 'commit')
      if (fate === 'is lost') return fail()
      if (fate === 'arrives late' && isBatch(batch)) {
        late.push(batch)
        this.#post(() => this.#deliverLate(late))
        return fail()
      }
      const value = this.#perform(name, args)
      if (fate === 'answer is lost') return fail()
      // The connection sends a commit again if the first answer does not come.
      if (fate === 'arrives twice') return answer(this.#perform(name, args))
      answer(value)
    })
    return promise
  }

  #perform(name: string, args: readonly unknown[]): unknown {
    const member: unknown = Reflect.get(this.#store, name, this.#store)
    const answer = typeof member === 'function' ? member.apply(this.#store, args) : undefined
    return name === 'commit' && this.#options.flaw === 'a refused commit is acknowledged' ? true : answer
  }

  #deliverLate(late: Batch[]): void {
    for (const batch of late.splice(0)) this.#store.commit(batch)
  }

  #chooseFate(isCommit: boolean): Fate {
    if (this.#random() >= this.#options.trouble) return 'arrives'
    const fates: readonly Fate[] = isCommit
      ? ['is lost', 'answer is lost', 'arrives late', 'arrives twice']
      : ['is lost', 'answer is lost']
    return fates[Math.floor(this.#random() * fates.length)] ?? 'arrives'
  }

  #post(message: () => void): void {
    this.#messages.push(message)
    if (this.#isDelivering) return
    this.#isDelivering = true
    setImmediate(() => this.#deliver())
  }

  /** Delivers one message, any of them, and then lets the receivers run. */
  #deliver(): void {
    const index = Math.floor(this.#random() * this.#messages.length)
    const [message] = this.#messages.splice(index, 1)
    message?.()
    this.#isDelivering = this.#messages.length > 0
    if (this.#isDelivering) setImmediate(() => this.#deliver())
  }
}

/** Creates a generator of numbers from 0 to 1 that a seed determines (mulberry32). */
export function createRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

function isBatch(value: unknown): value is Batch {
  return typeof value === 'object' && value !== null
}
