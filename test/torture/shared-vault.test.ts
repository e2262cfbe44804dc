import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, describe, expect, it } from 'vitest'
import { openPlace, type PlaceEngine } from '../support/engines.ts'
import { addToFigure } from '../support/figures.ts'
import { startProgram } from '../support/run-writer.ts'
import { PATIENCE_MS, scaled } from '../support/scale.ts'
import { everySharedEngine, useSharedPlaces } from '../support/shared-places.ts'
import { prepare, problemsIn, shortcomings } from '../support/shared-work.ts'
import type { Sighting, WorkOrder } from '../support/shared-worker.ts'

const WRITERS = 2
/** Those that wait for the disk at every commit, or for a server, do less in the short form. */
const operationsOn = (engine: PlaceEngine) => {
  if (engine === 'sqlite') return 10_000
  return scaled(engine === 'postgres' ? 250 : 500, 10_000)
}
const placeOn = useSharedPlaces()
const scratch = mkdtempSync(join(tmpdir(), 'coppice-shared-'))
afterAll(() => rmSync(scratch, { recursive: true, force: true }))

interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

describe('two processes that write one vault', () => {
  it.each(everySharedEngine)(
    'on %s lose nothing, and a third sees only consistent trees',
    {
      timeout: PATIENCE_MS,
    },
    async (engine) => {
      // Every read of the third asks: hints come in groups, and would show it few of the trees.
      const place = { ...placeOn(engine, scratch), freshness: 'strict' as const }
      const { home } = await openPlace(place)
      await prepare(await home.createVault('base'), WRITERS)
      await home.close()
      const order = { place, writers: WRITERS, operations: operationsOn(engine) }
      const reader = start(order)
      const writers = await Promise.all([0, 1].map((writer) => start({ ...order, writer }).ended))
      expect(writers).toEqual(writers.map(() => ({ code: 0, stdout: '', stderr: '' })))
      reader.stop()
      addToFigure('sharedWrites', WRITERS * operationsOn(engine))
      const { code, stdout, stderr } = await reader.ended
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
      const sighting: Sighting = JSON.parse(stdout)
      expect(sighting.problems).toEqual([])
      expect(sighting.different).toBeGreaterThan(20)
      await using again = (await openPlace(place)).home
      const vault = await again.vault('base')
      expect(await shortcomings(vault, WRITERS, operationsOn(engine))).toEqual([])
      expect(problemsIn(await Array.fromAsync(vault.walk('/watched')), WRITERS)).toEqual([])
      expect((await again.fsck()).damaged).toEqual([])
    },
  )
})

function start(order: WorkOrder): { ended: Promise<Ended>; stop: () => void } {
  const child = startProgram('shared-worker', order)
  const code = new Promise<number | null>((resolve) => child.on('close', resolve))
  const ended = Promise.all([code, text(child.stdout), text(child.stderr)])
  return {
    ended: ended.then(([code, stdout, stderr]) => ({ code, stdout, stderr })),
    stop: () => child.stdin.end(),
  }
}
