import { once } from 'node:events'
import { mkdtempSync, readdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { readFile, readText } from '../../src/vfs/index.ts'
import { openPlace, type Place, sharedEngineNames } from '../support/engines.ts'
import { largeContent } from '../support/large-content.ts'
import { LoopDisk } from '../support/loop-disk.ts'
import { startProgram } from '../support/run-writer.ts'
import { PATIENCE_MS, scaled } from '../support/scale.ts'
import type { ReadReport, StreamOrder } from '../support/streaming-process.ts'
import { whyNoLoopDisk } from '../support/tools.ts'

const MEBIBYTE = 1024 * 1024
let directory: string

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'coppice-streams-'))
})
afterEach(() => {
  rmSync(directory, { recursive: true, force: true })
})

describe.each(sharedEngineNames)('segments on %s', (engine) => {
  const newPlace = (): Place => ({ path: join(directory, 'home'), engine })
  const forgetAll = () => ({ keepHistory: new Date(Date.now() + 1) })

  it('of a writer that is killed are removed by the next collection', async () => {
    const place = newPlace()
    {
      const { home } = await openPlace(place)
      const vault = await home.createVault('base')
      await vault.write('/large', 'before')
      await vault.write('/kept', largeContent('kept'))
      await home.close()
    }
    await runToKill({ place, mode: 'write' })
    const { home } = await openPlace(place)
    const vault = await home.vault('base')
    expect(await readText(vault, '/large')).toBe('before')
    expect((await home.stats()).segments.count).toBeGreaterThan(1)
    expect((await home.fsck()).damaged).toEqual([])
    await home.gc()
    expect(await home.stats()).toMatchObject({ segments: { count: 1, bytes: 5 * MEBIBYTE } })
    expect(await home.fsck()).toMatchObject({ damaged: [], orphanedSegments: [] })
    expect(largeContent('kept').equals(await readFile(vault, '/kept'))).toBe(true)
    await home.close()
  })

  it('of a collection that is killed between rows and segments are removed by the next one', async () => {
    const place = newPlace()
    {
      const { home } = await openPlace(place)
      await (await home.createVault('base')).write('/kept', largeContent('kept'))
      await (await home.createVault('dropped')).write('/large', largeContent('large', 20 * MEBIBYTE))
      await home.deleteVault('dropped')
      await home.close()
    }
    await runToKill({ place, mode: 'delete' })
    const { home } = await openPlace(place)
    const { damaged, orphanedSegments } = await home.fsck()
    expect({ damaged, orphans: orphanedSegments.length }).toEqual({ damaged: [], orphans: 3 })
    expect(await home.gc()).toMatchObject({ blobs: 0, segments: 3 })
    const vault = await home.vault('base')
    expect(largeContent('kept').equals(await readFile(vault, '/kept'))).toBe(true)
    await home.close()
  })

  it('of a writer that was stopped for too long are deleted, and nothing refers to them', async () => {
    const place = newPlace()
    const { home } = await openPlace(place)
    const vault = await home.createVault('base')
    const writer = startProgram('streaming-process', { place, mode: 'stop' } satisfies StreamOrder)
    const lines = createInterface({ input: writer.stdout })
    await once(lines, 'line')
    // No collection counts on a session that is not written any more.
    await vault.write('/part', largeContent('of a killed writer', 4 * MEBIBYTE))
    const sessions = join(place.path, engine === 'sqlite' ? 'store.db-sessions' : 'store.lmdb/sessions')
    for (const name of readdirSync(sessions)) rmSync(join(sessions, name))
    await home.gc({ sessionTimeoutMs: 200 })
    const outcome = once(lines, 'line')
    writer.kill('SIGCONT')
    expect(await outcome).toEqual(['EUNAVAILABLE'])
    await vault.write('/again', largeContent('of a killed writer', 24 * MEBIBYTE))
    expect(largeContent('of a killed writer', 24 * MEBIBYTE).equals(await readFile(vault, '/again'))).toBe(
      true,
    )
    await home.gc()
    expect(await home.fsck()).toMatchObject({ damaged: [], orphanedSegments: [] })
    await home.close()
  })

  it('are read by other processes while collections delete and rewrite them', {
    timeout: PATIENCE_MS,
  }, async () => {
    const place = newPlace()
    const { home } = await openPlace(place)
    const vault = await home.createVault('base')
    await vault.write('/kept', largeContent('kept'))
    await vault.write('/changing', largeContent('round 0'))
    const readers = [0, 1].map(() => {
      const process = startProgram('streaming-process', { place, mode: 'read' } satisfies StreamOrder)
      return { process, lines: createInterface({ input: process.stdout }) }
    })
    await Promise.all(readers.map(({ lines }) => once(lines, 'line')))
    let segments = 0
    for (let round = 1; round <= scaled(5, 200); round++) {
      // Half of the chunks of the old content stay in use, or less: its segments are rewritten.
      await vault.write(`/part-${round}`, largeContent(`round ${round - 1}`).subarray(0, 2 * MEBIBYTE))
      await vault.write('/changing', largeContent(`round ${round}`))
      if (round % 3 === 0) await vault.remove(`/part-${round - 1}`)
      segments += (await home.gc(forgetAll())).segments
    }
    const reports = readers.map(async ({ process, lines }) => {
      process.stdin.end()
      const [line] = await once(lines, 'line')
      const report: ReadReport = JSON.parse(line)
      return report
    })
    const found = await Promise.all(reports)
    expect(found.flatMap(({ problems }) => problems)).toEqual([])
    expect(Math.min(...found.map(({ reads }) => reads))).toBeGreaterThan(0)
    expect(segments).toBeGreaterThan(2)
    expect(await home.fsck()).toMatchObject({ damaged: [], orphanedSegments: [] })
    await home.close()
  })

  const noDisk = whyNoLoopDisk()
  it.skipIf(noDisk)('on a full disk are ENOSPC, and lose nothing', { timeout: PATIENCE_MS }, async () => {
    using disk = new LoopDisk(128)
    const place: Place = { path: join(disk.path, 'home'), engine }
    const { home } = await openPlace(place)
    const vault = await home.createVault('base')
    await vault.write('/kept', largeContent('kept'))
    const size = 150 * MEBIBYTE
    await expect(vault.write('/large', largeContent('too large', size))).rejects.toMatchObject({
      code: 'ENOSPC',
    })
    // What was stored of it is free again.
    const { bavail, bsize } = statfsSync(disk.path)
    expect(bavail * bsize).toBeGreaterThan(60 * MEBIBYTE)
    writeFileSync(join(disk.path, 'ballast'), Buffer.alloc(bavail * bsize - 12 * MEBIBYTE))
    await expect(vault.write('/large', largeContent('large', 20 * MEBIBYTE))).rejects.toMatchObject({
      code: 'ENOSPC',
    })
    expect(largeContent('kept').equals(await readFile(vault, '/kept'))).toBe(true)
    await vault.remove('/kept')
    expect(await home.gc(forgetAll())).toMatchObject({ segments: 1 })
    expect(await home.fsck()).toMatchObject({ damaged: [], orphanedSegments: [] })
    await home.close()
  })

  it.skipIf(noDisk)(
    'survive a power cut together with the rows that name them',
    {
      timeout: PATIENCE_MS,
    },
    async () => {
      using disk = new LoopDisk(256)
      const place: Place = { path: join(disk.path, 'home'), engine }
      {
        const { home } = await openPlace(place)
        await home.createVault('base')
        await home.close()
      }
      const writer = startProgram('streaming-process', { place, mode: 'hold' } satisfies StreamOrder)
      await once(createInterface({ input: writer.stdout }), 'line')
      disk.cutPower()
      writer.kill('SIGKILL')
      await once(writer, 'exit')
      disk.restart()
      const { home } = await openPlace(place)
      const vault = await home.vault('base')
      expect(largeContent('large', 20 * MEBIBYTE).equals(await readFile(vault, '/large'))).toBe(true)
      expect((await home.fsck()).damaged).toEqual([])
      await home.gc()
      expect(await home.fsck()).toMatchObject({ damaged: [], orphanedSegments: [] })
      await home.close()
    },
  )
})

async function runToKill(order: StreamOrder): Promise<void> {
  const child = startProgram('streaming-process', order)
  child.stderr.pipe(process.stderr)
  const [, signal] = await once(child, 'exit')
  expect(signal).toBe('SIGKILL')
}
