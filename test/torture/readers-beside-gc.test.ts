import type { ChildProcessWithoutNullStreams } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface, type Interface } from 'node:readline'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { GcOptions, Home, Vault } from '../../src/backends/vault/index.ts'
import type { Freshness } from '../../src/store/index.ts'
import { openPlace, type Place, type PlaceEngine } from '../support/engines.ts'
import { startProgram } from '../support/run-writer.ts'
import { PATIENCE_MS, scaled } from '../support/scale.ts'
import { everySharedEngine, useSharedPlaces } from '../support/shared-places.ts'
import type { WalkOrder, WalkReport } from '../support/walking-process.ts'

const DIRECTORIES = 8
const FILES = 200
const ROUNDS = scaled(4, 400)
const placeOn = useSharedPlaces()

let directory: string
let place: Place

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'coppice-readers-'))
})
afterEach(() => {
  rmSync(directory, { recursive: true, force: true })
})

describe.each(everySharedEngine)('beside a garbage collection of another process, on %s', (engine) => {
  it('walks never fail, and show one moment each', { timeout: PATIENCE_MS }, async () => {
    const { home, vault } = await filled(engine, 'notified')
    const walkers = [walker(), walker()]
    let pages = 0
    for (let round = 0; round < ROUNDS; round++) {
      await renew(home, vault, round)
      pages += (await home.gc(forgetting())).pages
    }
    for (const { process } of walkers) process.stdin.end()
    const reports = await Promise.all(walkers.map(reportOf))
    expect(reports.flatMap(({ problems }) => problems)).toEqual([])
    expect(Math.min(...reports.map(({ walks }) => walks))).toBeGreaterThan(0)
    expect(pages).toBeGreaterThan(0)
    await home.close()
  })

  it('a walk that stands still is held, and what it holds goes with its process', async () => {
    const { home, vault, countSessions } = await filled(engine)
    const { process, lines } = walker('still')
    await once(lines, 'line')
    await removeAll(vault)
    const first = await home.gc(forgetting())
    process.stdin.write('go on\n')
    const report = await reportOf({ process, lines })
    expect(report).toMatchObject({ files: DIRECTORIES * FILES, problems: ['now: here'] })
    const second = await home.gc(forgetting())
    expect(second.pages).toBeGreaterThan(first.pages)

    const killed = walker('still')
    await once(killed.lines, 'line')
    expect(await countSessions()).toBe(1)
    killed.process.kill('SIGKILL')
    await once(killed.process, 'exit')
    await home.gc()
    expect(await countSessions()).toBe(0)
    await home.close()
  })

  it('a process that was stopped for too long is fenced: its walk fails, and the next read is right', async () => {
    const { home, vault } = await filled(engine)
    const { process, lines } = walker('still')
    await once(lines, 'line')
    process.kill('SIGSTOP')
    await removeAll(vault)
    const { pages } = await home.gc({ ...forgetting(), sessionTimeoutMs: 200 })
    expect(pages).toBeGreaterThan(DIRECTORIES)
    process.kill('SIGCONT')
    process.stdin.write('go on\n')
    const { problems } = await reportOf({ process, lines })
    expect(problems).toEqual([expect.stringMatching(/^EUNAVAILABLE .*read again/), 'now: here'])
    expect((await home.fsck()).damaged).toEqual([])
    await home.close()
  })
})

/** Without their history, only readers keep the pages of earlier trees. */
function forgetting(): GcOptions {
  return { keepHistory: new Date(Date.now() + 1000) }
}

interface Walker {
  readonly process: ChildProcessWithoutNullStreams
  readonly lines: Interface
}

function walker(mode: WalkOrder['mode'] = 'again and again'): Walker {
  const order: WalkOrder = { place, mode }
  const process = startProgram('walking-process', order)
  process.stderr.pipe(globalThis.process.stderr)
  return { process, lines: createInterface({ input: process.stdout }) }
}

async function reportOf({ lines }: Walker): Promise<WalkReport> {
  const [line] = await once(lines, 'line')
  return JSON.parse(line)
}

async function filled(
  name: PlaceEngine,
  freshness: Freshness = 'strict',
): Promise<{ home: Home; vault: Vault; countSessions: () => Promise<number> }> {
  place = { ...placeOn(name, directory), freshness }
  const { home, engine } = await openPlace(place)
  const vault = await home.createVault('base')
  for (let directory = 0; directory < DIRECTORIES; directory++) await fill(vault, `/d${directory}`)
  await vault.close()
  return { home, vault, countSessions: async () => (await engine.sessionRegistry?.listIds())?.length ?? -1 }
}

async function fill(vault: Vault, directory: string): Promise<void> {
  const names = Array.from({ length: FILES }, (_, index) => `${directory}/file-${index}`)
  await Promise.all(names.map((path) => vault.write(path, `${path}: ${'x'.repeat(150)}`)))
}

/** Replaces a directory by another one, in one commit. */
async function renew(home: Home, vault: Vault, round: number): Promise<void> {
  const fork = await home.fork('base', 'fork')
  await fork.remove(`/d${round}`, { recursive: true })
  await fill(fork, `/d${round + DIRECTORIES}`)
  await home.merge('fork', 'base')
  await home.deleteVault('fork')
  await vault.close()
}

async function removeAll(vault: Vault): Promise<void> {
  for (let directory = 0; directory < DIRECTORIES; directory++)
    await vault.remove(`/d${directory}`, { recursive: true })
  await vault.write('/now', 'here')
  await vault.close()
}
