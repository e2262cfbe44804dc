import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import type { Durability } from '../../src/store/index.ts'
import { type EngineName, engineNames, openPlace, type Place } from '../support/engines.ts'
import { addToFigure } from '../support/figures.ts'
import { LoopDisk } from '../support/loop-disk.ts'
import { runWriter, type WriterRun } from '../support/run-writer.ts'
import { PATIENCE_MS, scaled } from '../support/scale.ts'
import { whyNoLoopDisk, whyNoStrace } from '../support/tools.ts'
import { Witness } from '../support/witness.ts'

const SYNCS = 'fsync,fdatasync,msync'
const SCRIPT = { seed: 7, isPlain: true, hasBursts: false } as const
/** Engines that sync something at every commit, whatever was asked for: what they write would be torn otherwise. */
const SYNCS_ANYWAY: ReadonlySet<EngineName> = new Set<EngineName>(['lmdb', 'level'])

const scratch = mkdtempSync(join(tmpdir(), 'coppice-failures-'))
afterAll(() => rmSync(scratch, { recursive: true, force: true }))
let places = 0

const noStrace = whyNoStrace()
describe.skipIf(noStrace)(`a sync${noStrace ? ` (skipped: ${noStrace})` : ''}`, () => {
  it.each(engineNames)(
    'on %s comes before every acknowledgement of a home that is to survive power cuts',
    async (engine) => {
      expect(await unsyncedAcks(engine, 'full')).toEqual([])
      const unsynced = await unsyncedAcks(engine, 'process')
      if (SYNCS_ANYWAY.has(engine)) expect(unsynced).toEqual([])
      else expect(unsynced.length).toBeGreaterThan(20)
    },
  )

  it.each(engineNames)(
    'that fails on %s is EIO, reverts the changes that waited for it, and leaves a clean home',
    {
      timeout: PATIENCE_MS,
    },
    async (engine) => {
      for (let when = 1; when <= scaled(5, 60); when++) {
        const { place, witness } = await newHome({ engine, durability: 'full' })
        const run = await runWriter(
          // Long enough for so many syncs: not every step has one.
          { place, script: SCRIPT, start: 0, end: 100 + when * 16 },
          { under: failing(`${when * 4}`) },
        )
        expect(new Set(run.failures.map(({ code }) => code))).toEqual(new Set(['EIO']))
        await settle(run, witness)
        await witness.check(place, { everything: true })
        addToFigure('failedSyncs')
      }
    },
  )

  it.each(engineNames)(
    'that fails for ever on %s is followed by no acknowledgement',
    {
      timeout: PATIENCE_MS,
    },
    async (engine) => {
      for (let when = 1; when <= scaled(3, 30); when++) {
        const { place, witness } = await newHome({ engine, durability: 'full' })
        const run = await runWriter({ place, script: SCRIPT, start: 0 }, { under: failing(`${when * 9}+`) })
        expect(new Set(run.failures.map(({ code }) => code))).toEqual(new Set(['EIO']))
        const first = run.failures[0]?.number ?? -1
        expect(run.acks.filter(({ number, outcome }) => number > first && outcome === 'done')).toEqual([])
        await settle(run, witness)
        await witness.check(place, { everything: true })
        addToFigure('failedSyncs')
      }
    },
  )
})

const noDisk = whyNoLoopDisk()
describe.skipIf(noDisk)(`a full disk${noDisk ? ` (skipped: ${noDisk})` : ''}`, () => {
  it.each(engineNames)(
    'on %s is ENOSPC, loses nothing acknowledged, and is usable once there is space',
    {
      timeout: PATIENCE_MS,
    },
    async (engine) => {
      using disk = new LoopDisk(scaled(44, 64))
      const ballast = join(disk.path, 'ballast')
      // More than the store sets aside again for removals, before anything may grow.
      writeFileSync(ballast, new Uint8Array(20 * 2 ** 20))
      const { place, witness } = await newHome({ engine, durability: 'process' }, join(disk.path, 'home'))
      const run = await runWriter({ place, script: SCRIPT, start: 0, end: 20_000 })
      expect(new Set(run.failures.map(({ code }) => code))).toEqual(new Set(['ENOSPC']))
      expect(run.failures[0]?.message).toMatch(/full|space/i)
      // LMDB does not survive a write that the disk refuses: the store must reject each batch before the engine does.
      if (engine === 'lmdb')
        for (const { message } of run.failures) expect(message).toContain('kept for removals')
      expect(run.acks.length).toBeGreaterThan(100)
      await settle(run, witness)
      rmSync(ballast)
      await witness.check(place, { everything: true })
      addToFigure('fullDisks')
      const again = await runWriter({ place, script: SCRIPT, start: witness.next, end: witness.next + 50 })
      expect(again.failures).toEqual([])
      await witness.heard(again.acks)
      await witness.check(place, { everything: true })
    },
  )
})

async function newHome(
  facts: Omit<Place, 'path'>,
  path = join(scratch, `home-${++places}`),
): Promise<{ place: Place; witness: Witness }> {
  const place = { path, ...facts }
  const { home } = await openPlace(place)
  await home.createVault('base')
  await home.close()
  return { place, witness: new Witness(SCRIPT) }
}

/** Tells a witness everything in the order it happened. The writer must have ended in its own way. */
async function settle({ acks, failures, code, stderr }: WriterRun, witness: Witness): Promise<void> {
  expect({ code, stderr }).toMatchObject({ code: 0 })
  const events = [...acks, ...failures].sort((one, other) => one.number - other.number)
  for (const event of events) {
    if ('outcome' in event) await witness.heard([event])
    else witness.failed(event.number)
  }
}

function failing(when: string): string[] {
  const inject = `inject=${SYNCS}:error=EIO:when=${when}`
  // The count is one of each thread: there is to be one that syncs.
  const alone = ['env', 'UV_THREADPOOL_SIZE=1']
  return [
    ...alone,
    'strace',
    '-f',
    '--seccomp-bpf',
    '-qq',
    '-o',
    '/dev/null',
    '-e',
    `trace=${SYNCS}`,
    '-e',
    inject,
  ]
}

/** Steps that were acknowledged as done though no sync had succeeded since the acknowledgement before. */
async function unsyncedAcks(engine: EngineName, durability: Durability): Promise<string[]> {
  const { place } = await newHome({ engine, durability })
  const trace = `${place.path}.trace`
  const under = [
    'strace',
    '-f',
    '--seccomp-bpf',
    '-qq',
    '-o',
    trace,
    '-s',
    '40',
    '-e',
    `trace=${SYNCS},write`,
  ]
  await runWriter({ place, script: SCRIPT, start: 0, end: 60 }, { under })
  const unsynced: string[] = []
  let syncs = 0
  for (const line of readFileSync(trace, 'utf8').split('\n')) {
    const ack = /write\(1, "(\d+) (\w+)\\n"/.exec(line)
    if (/sync.*= 0$/.test(line)) syncs++
    if (ack === null) continue
    if (ack[2] === 'done' && syncs === 0) unsynced.push(line)
    syncs = 0
  }
  return unsynced
}
