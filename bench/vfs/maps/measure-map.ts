import type { Recorder, Task } from '../../harness/benchmark.ts'
import { WarmUpRecorder } from '../../harness/recorder.ts'

/** Operations of a map in the benchmark. Values are numbers, so that a sum shows completeness. */
export interface ForkableMap {
  get(key: string): number | undefined
  set(key: string, value: number): void
  /** An independent map with the same content. */
  fork(): ForkableMap
  /** The sum of all values and lengths of keys, visited in the order of the keys. */
  sum(): number
}

const DIRECTORY_ENTRIES = 100
const FORKS = 1000
/** Visits every index once in an order without order: a prime that does not divide the sizes used here. */
const STRIDE = 7919

interface Entry {
  readonly key: string
  readonly value: number
}

/** All works of the `persistent-map` benchmark, once in small to warm up, then for the record. */
export async function measureMap(recorder: Recorder, create: () => ForkableMap): Promise<void> {
  await runWorks(new WarmUpRecorder(), create, 10_000)
  await runWorks(recorder, create, 100_000)
}

async function runWorks(recorder: Recorder, create: () => ForkableMap, count: number): Promise<void> {
  const entries = Array.from({ length: count }, (_, index) => entry(index))
  const shuffled = entries.map((_, index) => entry((index * STRIDE) % count))
  await recorder.record('set-ordered', setTask(create, entries))
  await recorder.record('set-shuffled', setTask(create, shuffled))
  let map = createFilledMap(create, shuffled)
  const chooseMap = () => map
  await recorder.record('get', getTask(chooseMap, shuffled))
  await recorder.record('fork-set', forkTask(map, shuffled))
  const iterate: Task = {
    operations: count,
    expected: sumLengthsWithKeys(entries),
    pass: async () => map.sum(),
  }
  await recorder.record('iterate', iterate)
  const prepare = async () => {
    map = createFilledMap(create, shuffled)
  }
  await recorder.record('iterate-first', { ...iterate, prepare })
  await measureDirectories(recorder, create, shuffled)
}

/** The same entries dealt out to many small maps. */
async function measureDirectories(
  recorder: Recorder,
  create: () => ForkableMap,
  entries: readonly Entry[],
): Promise<void> {
  const directories = Array.from({ length: entries.length / DIRECTORY_ENTRIES }, create)
  const choose = (index: number) => directories[Math.floor(index / DIRECTORY_ENTRIES)] ?? create()
  await recorder.record('directories-set', {
    operations: entries.length,
    expected: entries.length,
    prepare: async () => {
      for (const index of directories.keys()) directories[index] = create()
    },
    async pass() {
      for (const [index, { key, value }] of entries.entries()) choose(index).set(key, value)
      return entries.length
    },
  })
  await recorder.record('directories-get', getTask(choose, entries))
  await recorder.record('directories-fork-set', forkTask(choose(0), entries))
}

function setTask(create: () => ForkableMap, entries: readonly Entry[]): Task {
  return {
    operations: entries.length,
    expected: entries.length,
    async pass() {
      createFilledMap(create, entries)
      return entries.length
    },
  }
}

function getTask(choose: (index: number) => ForkableMap, entries: readonly Entry[]): Task {
  return {
    operations: entries.length,
    expected: sumLengths(entries),
    async pass() {
      let sum = 0
      for (const [index, { key }] of entries.entries()) sum += choose(index).get(key) ?? Number.NaN
      return sum
    },
  }
}

/** Each fork is changed in another place; the original must not notice. */
function forkTask(map: ForkableMap, entries: readonly Entry[]): Task {
  return {
    operations: FORKS,
    expected: FORKS,
    async pass() {
      let independent = 0
      for (const { key } of entries.slice(0, FORKS)) {
        const before = map.get(key)
        const fork = map.fork()
        fork.set(key, -1)
        if (fork.get(key) === -1 && map.get(key) === before) independent++
      }
      return independent
    },
  }
}

function createFilledMap(create: () => ForkableMap, entries: readonly Entry[]): ForkableMap {
  const map = create()
  for (const { key, value } of entries) map.set(key, value)
  return map
}

function entry(index: number): Entry {
  return { key: `file-${String(index).padStart(6, '0')}.txt`, value: index + 1 }
}

function sumLengths(entries: readonly Entry[]): number {
  return entries.reduce((sum, { value }) => sum + value, 0)
}

function sumLengthsWithKeys(entries: readonly Entry[]): number {
  return entries.reduce((sum, { key, value }) => sum + key.length + value, 0)
}
