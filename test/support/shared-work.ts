import type { Home, Vault } from '../../src/backends/vault/index.ts'
import { append, type FileSystem, hash, isVfsError, readText, type WalkEntry } from '../../src/vfs/index.ts'

const RING = 5
const LINES_PER_LOG = 80
const COUNTERS = 3
const MERGE_EVERY = 500
/** Of eight operations: three files of one's own, two lines of a shared log, a count, a step in a ring, a ball. */
const KINDS = 8

/** Makes what the writers expect to find. */
export async function prepare(vault: Vault, writers: number): Promise<void> {
  for (let counter = 0; counter < COUNTERS; counter++) await vault.write(`/counters/${counter}`, '0')
  for (let writer = 0; writer < writers; writer++) {
    await vault.write(`/watched/${writer}-left/ball`, '')
    await vault.mkdir(`/watched/${writer}-right`)
    for (let place = 0; place < RING; place++) await vault.write(`/watched/ring-${writer}/${place}`, '')
  }
}

/** Does one operation; each kind keeps a promise that `problemsIn` and `shortcomings` check. */
export async function operate(home: Home, vault: Vault, writer: number, number: number): Promise<void> {
  const [kind, turn] = [number % KINDS, Math.floor(number / KINDS)]
  if (kind < 3) await vault.write(ownFile(writer, number), `${writer}:${number}`)
  else if (kind < 5) await append(vault, logOf(number), `${writer}:${number}\n`)
  else if (kind === 5) await increment(vault, `/counters/${turn % COUNTERS}`)
  else if (kind === 6) {
    const size = Math.floor(turn / RING) + 1
    await vault.write(`/watched/ring-${writer}/${turn % RING}`, 'x'.repeat(size))
  } else {
    const sides = [`/watched/${writer}-left/ball`, `/watched/${writer}-right/ball`] as const
    await vault.rename(sides[turn % 2 === 0 ? 0 : 1], sides[turn % 2 === 0 ? 1 : 0])
  }
  if (number % MERGE_EVERY === 0) await mergePair(home, `pair-${writer}-${number}`)
}

/** What is wrong with the watched files as one walk shows them. */
export function problemsIn(entries: readonly WalkEntry[], writers: number): string[] {
  const sizes = new Map(entries.map(({ path, stat }) => [path, stat.size]))
  const problems: string[] = []
  const [a, b] = [sizes.get('/watched/pair/a'), sizes.get('/watched/pair/b')]
  if (a !== b) problems.push(`a pair that is written in one commit differs: ${a} and ${b} bytes`)
  for (let writer = 0; writer < writers; writer++) {
    const balls = ['left', 'right'].filter((side) => sizes.has(`/watched/${writer}-${side}/ball`))
    if (balls.length !== 1) problems.push(`a file that is moved to and fro is at ${balls.length} places`)
    const ring = Array.from(
      { length: RING },
      (_, place) => sizes.get(`/watched/ring-${writer}/${place}`) ?? -1,
    )
    // Written one after the other, round by round: those behind may lag one round, and nobody else.
    const isInOrder = ring.every((size, place) => place === 0 || size <= (ring[place - 1] ?? 0))
    if (!isInOrder || (ring[0] ?? 0) - (ring.at(-1) ?? 0) > 1)
      problems.push(`writes are out of order: ${ring}`)
  }
  return problems
}

/** What is missing, or there twice, when all writers have done their operations. */
export async function shortcomings(fs: FileSystem, writers: number, operations: number): Promise<string[]> {
  const problems: string[] = []
  const lines = new Map<string, string[]>()
  let counted = 0
  for (let writer = 0; writer < writers; writer++) {
    for (let number = 0; number < operations; number++) {
      const [kind, expected] = [number % KINDS, `${writer}:${number}`]
      if (kind < 3 && (await readText(fs, ownFile(writer, number))) !== expected)
        problems.push(`lost: ${expected}`)
      if (kind === 3 || kind === 4) lines.set(logOf(number), [...(lines.get(logOf(number)) ?? []), expected])
      if (kind === 5) counted++
    }
  }
  for (const [path, expected] of lines) {
    const found = (await readText(fs, path)).trimEnd().split('\n')
    if (found.toSorted().join() !== expected.toSorted().join()) problems.push(`${path} has ${found}`)
  }
  for (let counter = 0; counter < COUNTERS; counter++)
    counted -= Number(await readText(fs, `/counters/${counter}`))
  return counted === 0 ? problems : [...problems, `the counters are ${counted} short`]
}

function ownFile(writer: number, number: number): string {
  return `/own-${writer}/${number % 50}/f${number}`
}

function logOf(number: number): string {
  return `/logs/${Math.floor(number / LINES_PER_LOG)}`
}

async function mergePair(home: Home, name: string): Promise<void> {
  const fork = await home.fork('base', name)
  const content = 'x'.repeat(Math.floor(Math.random() * 200))
  await fork.write('/watched/pair/a', content)
  await fork.write('/watched/pair/b', content)
  await home.merge(name, 'base', { onConflict: 'theirs' })
}

async function increment(fs: FileSystem, path: string): Promise<void> {
  for (;;) {
    const ifMatch = await hash(fs, path)
    const value = Number(await readText(fs, path))
    try {
      return await fs.write(path, `${value + 1}`, { ifMatch })
    } catch (error) {
      if (!isVfsError(error, 'ECONFLICT')) throw error
    }
  }
}
