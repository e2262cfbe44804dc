import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type EngineName, engineNames, openPlace, type Place } from '../support/engines.ts'
import { addToFigure } from '../support/figures.ts'
import type { Held, HeldOrder } from '../support/held-steps.ts'
import { LoopDisk } from '../support/loop-disk.ts'
import { type Ack, runWriter, startProgram } from '../support/run-writer.ts'
import { PATIENCE_MS, scaled } from '../support/scale.ts'
import { type Step, stepAt } from '../support/script.ts'
import { whyNoLoopDisk, whyNoStrace } from '../support/tools.ts'

const CUTS = scaled(3, 60)
const DISK_MEGABYTES = 192
/** What survives a power cut once it is acknowledged, whatever the durability of the home. */
const DURABLE: ReadonlySet<Step['act']> = new Set(['checkpoint', 'restore', 'merge', 'fork', 'sync'])
/** Says yes to every request to sync, and does nothing. */
const SYNCING_OFF = [
  'strace',
  '-f',
  '--seccomp-bpf',
  '-qq',
  '-o',
  '/dev/null',
  '-e',
  'trace=fsync,fdatasync,msync,sync_file_range',
  '-e',
  'inject=fsync,fdatasync,msync,sync_file_range:retval=0',
]

interface CutOptions {
  readonly engine: EngineName
  readonly durability: 'full' | 'process'
  /** The writer does nothing after the last step that is heard: a later one could make that durable. */
  readonly isLast?: boolean
}

interface Cut {
  readonly acks: readonly Ack[]
  /** How many steps the home turned out to hold; -1 if there is a problem with it. */
  readonly held: number
  readonly problem: string | undefined
  /** The last acknowledged step, counted from 1, that had to survive. */
  readonly durable: number
}

const missing = whyNoLoopDisk()
describe.skipIf(missing)(`a power cut${missing ? ` (skipped: ${missing})` : ''}`, () => {
  it.each(engineNames)(
    'loses nothing that %s acknowledged as durable against it',
    {
      timeout: PATIENCE_MS,
    },
    async (engine) => {
      for (const { seed, acks } of cuts()) {
        const cut = await cutPowerAt({ engine, durability: 'full' }, seed, acks)
        expect(cut.problem).toBeUndefined()
        expect(cut.held).toBeGreaterThanOrEqual(cut.acks.length)
      }
    },
  )

  it.each(engineNames)(
    'leaves a home on %s of the usual durability at a moment of its past, with every checkpoint',
    {
      timeout: PATIENCE_MS,
    },
    async (engine) => {
      for (const { seed, acks } of cuts()) {
        const cut = await cutPowerAt({ engine, durability: 'process' }, seed, acks)
        expect(cut.problem).toBeUndefined()
        expect(cut.held).toBeGreaterThanOrEqual(cut.durable)
      }
    },
  )

  it.each(engineNames)(
    'that comes right after a fork leaves it on %s',
    {
      timeout: PATIENCE_MS,
    },
    async (engine) => {
      // The script forks with its forty-first step.
      const cut = await cutPowerAt({ engine, durability: 'process', isLast: true }, 1, 41)
      expect(cut.problem).toBeUndefined()
      expect(cut.durable).toBe(41)
      expect(cut.held).toBeGreaterThanOrEqual(41)
    },
  )

  const noStrace = whyNoStrace()
  it.skipIf(noStrace).each(engineNames)(
    `would be noticed on %s if syncing did nothing${noStrace ? ` (skipped: ${noStrace})` : ''}`,
    {
      timeout: PATIENCE_MS,
    },
    async (engine) => {
      const cut = await cutPowerAt({ engine, durability: 'full' }, 1, 60, SYNCING_OFF)
      expect(cut.held).toBeLessThan(cut.acks.length)
    },
  )
})

function cuts(): { seed: number; acks: number }[] {
  return fc.sample(fc.record({ seed: fc.nat(), acks: fc.integer({ min: 1, max: 200 }) }), CUTS)
}

/** Cuts the power of a disk under a writer that has acknowledged so many steps, and looks what the home holds. */
async function cutPowerAt(
  { engine, durability, isLast = false }: CutOptions,
  seed: number,
  after: number,
  under: readonly string[] = [],
): Promise<Cut> {
  using disk = new LoopDisk(DISK_MEGABYTES)
  const place: Place = { path: join(disk.path, 'home'), engine, durability }
  const { home } = await openPlace(place)
  await home.createVault('base')
  await home.close()
  const script = { seed, mergeEvery: 40, hasBursts: false }
  const run = await runWriter(
    { place, script, start: 0, ...(isLast && { end: after }) },
    {
      under,
      onLine: (writer, heard) => {
        if (heard < after || writer.killed) return
        disk.cutPower()
        writer.kill('SIGKILL')
      },
    },
  )
  // The writer outlives the power by a moment, and so may a sync that was under way: what counts was heard before.
  const acks = run.acks.slice(0, after)
  expect(acks.map(({ number }) => number)).toEqual(acks.map((_, index) => index))
  expect(acks.length).toBe(after)
  disk.restart()
  addToFigure('powerCuts')
  const durable =
    acks.findLastIndex(
      ({ number, outcome }) => outcome === 'done' && DURABLE.has(stepAt(script, number).act),
    ) + 1
  return { acks, durable, ...(await heldBy({ place, script, most: run.acks.length + 1 })) }
}

/** How many steps of the script the home holds, or what is wrong with it. */
async function heldBy(order: HeldOrder): Promise<Pick<Cut, 'held' | 'problem'>> {
  const child = startProgram('held-steps', order)
  const [printed, complaint] = await Promise.all([text(child.stdout), text(child.stderr)])
  if (printed === '') return { held: -1, problem: `the home cannot be read: ${complaint}` }
  const { steps, damaged }: Held = JSON.parse(printed)
  if (damaged.length > 0) return { held: -1, problem: `fsck: ${JSON.stringify(damaged)}` }
  return { held: steps, problem: steps === -1 ? 'its writer never was in this state' : undefined }
}
