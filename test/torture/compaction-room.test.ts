import { randomBytes } from 'node:crypto'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { LevelEngine } from '../../src/store/index.ts'
import { LoopDisk } from '../support/loop-disk.ts'
import { whyNoLoopDisk } from '../support/tools.ts'

const PAGE_BYTES = 10_000
const PAGES = 4000
const BALLAST_BYTES = 8 * 2 ** 20

const reason = whyNoLoopDisk()
describe.skipIf(reason !== undefined)(
  `LevelDB on a full disk${reason ? ` (skipped: ${reason})` : ''}`,
  () => {
    // Where the refusals begin, between two flushes of the log, differs with the size of the disk.
    it.each([58, 59, 64])(
      'with %i MiB, refuses only what grows, and only until there is room',
      async (mebibytes) => {
        using disk = new LoopDisk(mebibytes)
        const ballast = join(disk.path, 'ballast')
        writeFileSync(ballast, new Uint8Array(BALLAST_BYTES))
        await using engine = await LevelEngine.open({ directory: join(disk.path, 'store.level') })
        const refusals = await putPages(engine, PAGES)
        expect(refusals.length).toBeGreaterThan(0)
        for (const refusal of refusals) expect(refusal).toContain('some of its room is kept for removals')
        // Removals are always taken, and what they free is found by compactions.
        for (let id = 1; id <= PAGES; id += 2) await engine.commit({ sweep: { pages: [id] } })
        rmSync(ballast)
        expect(await putPages(engine, 100)).toEqual([])
      },
    )
  },
)

/** Puts pages that do not compress, all over the keys, so that compactions have many tables to rewrite. */
async function putPages(engine: LevelEngine, count: number): Promise<string[]> {
  const refusals: string[] = []
  for (let index = 0; index < count; index++) {
    const id = 1 + ((index * 1009) % PAGES)
    const pages = [{ id, bytes: randomBytes(PAGE_BYTES) }]
    await engine.commit({ pages }).catch(({ message }: Error) => refusals.push(message))
  }
  return refusals
}
