/**
 * A home of many machines, simulated: agents think, read and write in their own forks and merge into one vault. Shows
 * which part is busy first. `docs/scale.md` explains the numbers: node bench/remote/simulate-scale.ts [--name value]...
 */
import { parseArgs } from 'node:util'

/**
 * Prices are examples. Costs are processor time of the database for one call, as measured by `npm run bench -- remote`
 * on two slow cores.
 */
const DEFAULTS = {
  machines: 100,
  agents: 100,
  thinkSeconds: 10,
  writesPerStep: 3,
  readsPerStep: 12,
  bytesPerWrite: 4096,
  taskMinutes: 30,
  cores: 16,
  commitMs: 0.5,
  readMs: 0.2,
  forkMs: 2,
  mergeMs: 30,
  flushMs: 1,
  roundTripMs: 0.5,
  basePages: 8000,
  cachePages: 1_000_000,
  keptDays: 7,
  coreMonth: 50,
  gibibyteMonth: 0.12,
  seconds: 60,
  seed: 1,
}

type Settings = typeof DEFAULTS

/** Requests wait for one of several servers, in the order of their arrival. */
class Station {
  readonly #freeAt: number[]
  busy = 0

  constructor(servers: number) {
    this.#freeAt = new Array<number>(servers).fill(0)
  }

  /** Returns the time at which a request is done. */
  serve(now: number, cost: number): number {
    let first = 0
    for (const [index, time] of this.#freeAt.entries()) if (time < (this.#freeAt[first] ?? 0)) first = index
    const done = Math.max(now, this.#freeAt[first] ?? 0) + cost
    this.#freeAt[first] = done
    this.busy += cost
    return done
  }
}

/** Commits that wait when the log is flushed share the next flush. */
class Log {
  readonly #flushMs: number
  #next = 0

  constructor(flushMs: number) {
    this.#flushMs = flushMs
  }

  flush(now: number): number {
    if (now > this.#next) this.#next = now + this.#flushMs
    return this.#next
  }
}

/** Numbers from a seed, the same in every run. */
function createRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

/** Something an agent does: a read, a write, a merge, or the end of its thinking. */
interface Event {
  readonly at: number
  readonly agent: number
  /** Calls of this step that are left. */
  readonly reads: number
  readonly writes: number
  /** True if a merge is ready to be committed. */
  readonly isMerged?: boolean
}

/** Events in the order of time: a binary heap. */
class Agenda {
  readonly #events: Event[] = []

  add(event: Event): void {
    let at = this.#events.push(event) - 1
    for (let parent = (at - 1) >> 1; at > 0 && this.#isLater(parent, at); parent = (at - 1) >> 1) {
      this.#swap(at, parent)
      at = parent
    }
  }

  take(): Event | undefined {
    const [first] = this.#events
    const last = this.#events.pop()
    if (first === undefined || last === undefined || this.#events.length === 0) return first
    this.#events[0] = last
    for (let at = 0; ; ) {
      const left = 2 * at + 1
      const child = left + 1 < this.#events.length && this.#isLater(left, left + 1) ? left + 1 : left
      if (child >= this.#events.length || !this.#isLater(at, child)) return first
      this.#swap(at, child)
      at = child
    }
  }

  #isLater(one: number, other: number): boolean {
    return (this.#events[one]?.at ?? 0) > (this.#events[other]?.at ?? 0)
  }

  #swap(one: number, other: number): void {
    const [first, second] = [this.#events[one], this.#events[other]]
    if (first === undefined || second === undefined) return
    this.#events[one] = second
    this.#events[other] = first
  }
}

/** One run of all agents. The first half fills the caches; the second half counts. */
class Simulation {
  readonly settings: Settings
  readonly database: Station
  /** The vault that everybody merges into: each merge is decided by its last row, so they come one after the other. */
  readonly base = new Station(1)
  readonly counts = { commits: 0, merges: 0, reads: 0, hits: 0 }
  readonly latencies: number[] = []
  readonly #log: Log
  readonly #random: () => number
  readonly #caches: Set<number>[]
  readonly #agenda = new Agenda()

  constructor(settings: Settings) {
    this.settings = settings
    this.database = new Station(settings.cores)
    this.#log = new Log(settings.flushMs)
    this.#random = createRandom(settings.seed)
    this.#caches = Array.from({ length: settings.machines }, () => new Set<number>())
  }

  get agents(): number {
    return this.settings.machines * this.settings.agents
  }

  run(): this {
    const end = this.settings.seconds * 2000
    for (let agent = 0; agent < this.agents; agent++) this.#think(agent, 0)
    let isCounting = false
    for (let event = this.#agenda.take(); event && event.at < end; event = this.#agenda.take()) {
      if (!isCounting && event.at >= end / 2) {
        isCounting = true
        this.#startCounting()
      }
      this.#play(event)
    }
    return this
  }

  #startCounting(): void {
    for (const name of ['commits', 'merges', 'reads', 'hits'] as const) this.counts[name] = 0
    this.latencies.length = 0
    this.database.busy = 0
    this.base.busy = 0
  }

  #play({ at, agent, reads, writes, isMerged = false }: Event): void {
    const { roundTripMs, mergeMs, forkMs, commitMs, thinkSeconds, taskMinutes } = this.settings
    if (isMerged) this.#think(agent, this.#commit(at, forkMs))
    else if (reads > 0) this.#agenda.add({ at: this.#read(at, agent), agent, reads: reads - 1, writes })
    else if (writes > 0)
      this.#agenda.add({ at: this.#commit(at, commitMs), agent, reads, writes: writes - 1 })
    else if (this.#random() < thinkSeconds / (taskMinutes * 60)) {
      this.counts.merges++
      const mergedAt = this.base.serve(at, mergeMs + roundTripMs)
      this.#agenda.add({ at: mergedAt, agent, reads, writes, isMerged: true })
    } else this.#think(agent, at)
  }

  #think(agent: number, from: number): void {
    const { thinkSeconds, readsPerStep: reads, writesPerStep: writes } = this.settings
    this.#agenda.add({ at: from - Math.log(1 - this.#random()) * thinkSeconds * 1000, agent, reads, writes })
  }

  /** Some files are read much more often than others. */
  #read(at: number, agent: number): number {
    const { basePages, cachePages, readMs, roundTripMs, machines } = this.settings
    const cache = this.#caches[agent % machines] ?? new Set()
    const page = Math.floor(basePages * this.#random() ** 3)
    this.counts.reads++
    if (cache.has(page)) {
      this.counts.hits++
      return at
    }
    if (cache.size < cachePages) cache.add(page)
    return this.database.serve(at + roundTripMs / 2, readMs) + roundTripMs / 2
  }

  #commit(at: number, cost: number): number {
    const half = this.settings.roundTripMs / 2
    const done = this.#log.flush(this.database.serve(at + half, cost)) + half
    this.counts.commits++
    this.latencies.push(done - at)
    return done
  }
}

function report(run: Simulation): string {
  const { settings, counts, database, base, agents } = run
  const { seconds, machines, cores, bytesPerWrite, keptDays, coreMonth, gibibyteMonth } = settings
  const latencies = run.latencies.toSorted((one, other) => one - other)
  const perSecond = (count: number) => Math.round(count / seconds)
  const percentile = (part: number) => latencies[Math.floor(part * (latencies.length - 1))] ?? 0
  // A machine sends at most ten a second.
  const hints = Math.min(perSecond(counts.commits), machines * 10)
  // A journal row, its share of a page and of an index.
  const gibibytesPerDay = ((counts.commits / seconds) * 86_400 * (bytesPerWrite + 1400)) / 2 ** 30
  const rows = [
    ['agents', agents],
    ['connections (up to 6, and one for hints, for each machine)', machines * 7],
    ['commits a second', perSecond(counts.commits)],
    ['commit, median / 99 of 100 (ms)', `${percentile(0.5).toFixed(1)} / ${percentile(0.99).toFixed(1)}`],
    ['database busy', `${formatPart(database.busy / (seconds * 1000 * cores))} of ${cores} cores`],
    ['merges into one vault a second', (counts.merges / seconds).toFixed(1)],
    [
      'that vault busy',
      base.busy > seconds * 1000 ? 'all the time; merges wait' : formatPart(base.busy / (seconds * 1000)),
    ],
    ['reads served by the cache of the machine', `${((counts.hits / counts.reads) * 100).toFixed(1)} %`],
    ['hints delivered a second', hints * (machines - 1)],
    ['new bytes a day', `${gibibytesPerDay.toFixed(0)} GiB`],
    ['cost a month', `${Math.round(cores * coreMonth + gibibytesPerDay * keptDays * gibibyteMonth)}`],
  ]
  return rows.map(([name, value]) => `| ${name} | ${value} |`).join('\n')
}

function formatPart(part: number): string {
  return `${Math.round(Math.min(1, part) * 100)} %`
}

function parseSettings(): Settings {
  const names = Object.keys(DEFAULTS)
  const options = Object.fromEntries(names.map((name) => [name, { type: 'string' as const }]))
  const { values } = parseArgs({ options })
  const given = Object.entries(values).map(([name, value]) => [name, Number(value)])
  return { ...DEFAULTS, ...Object.fromEntries(given) }
}

console.log(`| | |\n| --- | --- |\n${report(new Simulation(parseSettings()).run())}`)
