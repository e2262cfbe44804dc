import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Benchmark } from './benchmark.ts'
import { formatRatio } from './format.ts'
import type { Results } from './results.ts'

/** A ratio may lose this much of what the baseline has. Less is the noise of a quiet machine. */
const ALLOWED_LOSS = 0.15
/** Stands for the peer of a row that is a factor by itself, such as the growth of a home. */
const ITSELF = 'itself'

/** For each work and each peer, how many times as fast or as small ours is. Times vary by machine; ratios much less. */
export type Ratios = Readonly<Record<string, Readonly<Record<string, number>>>>

/** A row that fell behind its baseline. */
export interface Loss {
  readonly work: string
  readonly peer: string
  readonly before: number
  readonly now: number
}

export function collectRatios({ subjects: [ours, ...peers], works }: Benchmark, results: Results): Ratios {
  const rows = works.map(({ id, unit }): [string, Record<string, number>] => {
    const ratios = peers.flatMap(({ name }): [string, number][] => {
      const speedup = results.speedup(ours.name, name, id)
      return speedup === undefined ? [] : [[name, speedup]]
    })
    const own = unit === 'times' ? results.value(ours.name, id) : undefined
    // Of a factor less is better, and of a ratio more.
    if (own !== undefined && own > 0) ratios.push([ITSELF, 1 / own])
    return [id, Object.fromEntries(ratios)]
  })
  return Object.fromEntries(rows.filter(([, ratios]) => Object.keys(ratios).length > 0))
}

/** Rows of the baseline that were measured again and lost more than is allowed. */
export function findLosses(baseline: Ratios, measured: Ratios): Loss[] {
  return Object.entries(baseline).flatMap(([work, peers]) =>
    Object.entries(peers).flatMap(([peer, before]) => {
      const now = measured[work]?.[peer]
      return now === undefined || now >= before * (1 - ALLOWED_LOSS) ? [] : [{ work, peer, before, now }]
    }),
  )
}

export function describeLoss({ work, peer, before, now }: Loss): string {
  const lost = Math.round((1 - now / before) * 100)
  if (peer === ITSELF)
    return `${work}: ${formatRatio(1 / now)}, was ${formatRatio(1 / before)} (${lost} % lost)`
  return `${work}: ${formatRatio(now)} ${peer}, was ${formatRatio(before)} (${lost} % lost)`
}

/** Returns the stored baseline; undefined if there is none. */
export async function readBaseline(file: string): Promise<Ratios | undefined> {
  try {
    return JSON.parse(await readFile(file, 'utf8'))
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
}

/** Stores what was measured; rows that were not measured keep what they have. */
export async function updateBaseline(file: string, measured: Ratios): Promise<void> {
  const before = await readBaseline(file)
  await mkdir(dirname(file), { recursive: true })
  const rounded = (ratios: Readonly<Record<string, number>>) =>
    Object.fromEntries(Object.entries(ratios).map(([peer, ratio]) => [peer, Number(ratio.toPrecision(3))]))
  const rows = Object.entries(measured).map(([work, ratios]) => [
    work,
    { ...before?.[work], ...rounded(ratios) },
  ])
  await writeFile(file, `${JSON.stringify({ ...before, ...Object.fromEntries(rows) }, null, 2)}\n`)
}
