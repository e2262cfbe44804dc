import type { ChildProcess } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import fc from 'fast-check'
import { afterAll, expect, it } from 'vitest'
import { engineNames, openPlace, type Place } from '../support/engines.ts'
import { addToFigure } from '../support/figures.ts'
import { runWriter, type WriterWatch } from '../support/run-writer.ts'
import { PATIENCE_MS, scaled } from '../support/scale.ts'
import { Witness } from '../support/witness.ts'

/** Homes for each engine, and how often a writer is killed on each: what a home remembers is checked after each kill. */
const HOMES = scaled(5, 20)
const KILLS = scaled(8, 100)
const scratch = mkdtempSync(join(tmpdir(), 'coppice-kill-'))
afterAll(() => rmSync(scratch, { recursive: true, force: true }))

/** When a writer is killed: while it opens the home, or some time after it acknowledged so many steps. */
const moment = fc.oneof(
  { weight: 1, arbitrary: fc.record({ acks: fc.constant(0), afterMicroseconds: fc.nat(40_000) }) },
  {
    weight: 4,
    arbitrary: fc.record({ acks: fc.integer({ min: 1, max: 40 }), afterMicroseconds: fc.nat(1500) }),
  },
)

it.concurrent.each(engineNames)(
  'a writer on %s killed at any moment has lost nothing it acknowledged, and left nothing torn',
  { timeout: PATIENCE_MS },
  async (engine) => {
    for (let number = 0; number < HOMES; number++)
      await killOn({ path: join(scratch, `${engine}-${number}`), engine })
  },
)

async function killOn(place: Place): Promise<void> {
  const { home } = await openPlace(place)
  await home.createVault('base')
  await home.close()
  const seed = fc.sample(fc.nat(), 1)[0] ?? 0
  const witness = new Witness({ seed })
  // One that ends by itself leaves compiled code to those that cannot: they start several times faster.
  await runWriter({ place, script: { seed }, start: 0, end: 0 })
  for (const when of fc.sample(moment, KILLS)) {
    const order = { place, script: { seed }, start: witness.next }
    const { acks, failures, code, stderr } = await runWriter(order, killAt(when))
    expect({ failures, code, stderr }).toEqual({ failures: [], code: null, stderr: '' })
    await witness.heard(acks)
    await witness.check(place)
    addToFigure('kills')
  }
  await witness.check(place, { everything: true })
}

function killAt({ acks, afterMicroseconds }: { acks: number; afterMicroseconds: number }): WriterWatch {
  const kill = async (writer: ChildProcess) => {
    if (afterMicroseconds >= 2000) await delay(afterMicroseconds / 1000)
    else spin(afterMicroseconds)
    writer.kill('SIGKILL')
  }
  return {
    onLine: (writer, heard) => {
      if (heard === acks) void kill(writer)
    },
  }
}

/** Finer than a timer, so that a kill hits any part of a commit. */
function spin(microseconds: number): void {
  const end = process.hrtime.bigint() + BigInt(microseconds) * 1000n
  while (process.hrtime.bigint() < end);
}
