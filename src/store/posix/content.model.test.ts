import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import { fsck, gc, MemoryEngine, SqliteEngine, StoreHome } from '../index.ts'
import { CHUNK_BYTES } from '../tree/tree-values.ts'
import { PosixFiles } from './index.ts'

const scratch = mkdtempSync(join(tmpdir(), 'coppice-posix-content-'))
afterAll(() => rmSync(scratch, { recursive: true, force: true }))

const OWNER = { mode: 0o644, uid: 0, gid: 0 }
let places = 0

type Step =
  | { readonly do: 'write'; readonly at: number; readonly length: number; readonly fill: number }
  | { readonly do: 'truncate'; readonly size: number; readonly isTimed: boolean }
  | { readonly do: 'punch'; readonly at: number; readonly length: number }
  | { readonly do: 'fold' | 'reopen' | 'collect' }

/** Small, around the largest inline size, around the borders of chunks, and anywhere. */
const position = fc.oneof(
  fc.nat(300),
  fc.tuple(fc.nat(4), fc.integer({ min: -3, max: 3 })).map(([n, off]) => Math.max(0, n * CHUNK_BYTES + off)),
  fc.nat(5 * CHUNK_BYTES),
)
const length = fc.oneof(fc.nat(300), fc.nat(3 * CHUNK_BYTES), fc.constant(CHUNK_BYTES))
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('write'),
      at: position,
      length,
      fill: fc.integer({ min: 1, max: 255 }),
    }),
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('truncate'), size: position, isTimed: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('punch'), at: position, length }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom('fold', 'reopen', 'collect') }) },
)

/** A file as plain bytes. */
class Model {
  bytes = Buffer.alloc(0)

  write(at: number, piece: Uint8Array): void {
    if (piece.length > 0 && at + piece.length > this.bytes.length) this.truncate(at + piece.length)
    this.bytes.set(piece, Math.min(at, this.bytes.length))
  }

  truncate(size: number): void {
    const next = Buffer.alloc(size)
    next.set(this.bytes.subarray(0, size))
    this.bytes = next
  }

  punch(at: number, length: number): void {
    if (at < this.bytes.length) this.bytes.fill(0, at, Math.min(this.bytes.length, at + length))
  }
}

/** Bytes that differ from place to place, so that a shifted chunk shows. */
function patterned(length: number, fill: number): Uint8Array {
  return Uint8Array.from({ length }, (_, index) => ((index * 7 + fill) % 255) + 1)
}

interface Stage {
  readonly home: StoreHome
  readonly posix: PosixFiles
  readonly ino: number
}

async function staged(home: StoreHome): Promise<Stage> {
  const log =
    (await home.listVaultNames()).length === 0 ? await home.createVault('base') : await home.openVault('base')
  const posix = new PosixFiles(log, home.blobs)
  const ino = posix.lookup(PosixFiles.root, 'f') ?? posix.create(PosixFiles.root, 'f', OWNER)
  return { home, posix, ino }
}

function perform({ posix, ino }: Stage, model: Model, one: Step): void {
  if (one.do === 'write') {
    const bytes = patterned(one.length, one.fill)
    posix.write(ino, one.at, bytes)
    model.write(one.at, bytes)
  } else if (one.do === 'truncate') {
    posix.setattr(ino, { size: one.size, ...(one.isTimed && { mtime: 'now' }) })
    model.truncate(one.size)
  } else if (one.do === 'punch' && one.length > 0) {
    posix.punchHole(ino, one.at, one.length)
    model.punch(one.at, one.length)
  }
}

function assertSame({ posix, ino }: Stage, { bytes }: Model): void {
  expect(posix.getattr(ino).size).toBe(bytes.length)
  expect(Buffer.compare(posix.read(ino, 0, bytes.length + 10), bytes)).toBe(0)
  const middle = Math.floor(bytes.length / 3)
  expect(Buffer.compare(posix.read(ino, middle, 1000), bytes.subarray(middle, middle + 1000))).toBe(0)
  assertHolesAreZero({ posix, ino }, bytes)
}

/** What `seek` calls a hole is zero, and everything that is not zero is in what it calls data. */
function assertHolesAreZero({ posix, ino }: Pick<Stage, 'posix' | 'ino'>, bytes: Buffer): void {
  for (let at = 0; at < bytes.length; ) {
    const data = posix.seek(ino, at, 'data') ?? bytes.length
    expect(bytes.subarray(at, data).every((byte) => byte === 0)).toBe(true)
    at = posix.seek(ino, data, 'hole') ?? bytes.length
    expect(at).toBeGreaterThanOrEqual(data)
  }
  expect(posix.seek(ino, bytes.length, 'data')).toBe(null)
}

async function assertSound({ home, ino }: Stage): Promise<void> {
  expect((await fsck(home)).damaged).toEqual([])
  const files = (await home.openVault('base')).readFiles()
  const { content, size } = files.getInode(ino)
  const chunks = Array.from({ length: 12 }, (_, index) => files.findChunk(ino, index))
  const allowed = content === 'chunks' ? Math.ceil(size / CHUNK_BYTES) : 0
  expect(chunks.findLastIndex((chunk) => chunk !== undefined)).toBeLessThan(allowed)
}

async function assertModelHolds(
  steps: readonly Step[],
  open: () => StoreHome,
  isBatched: boolean,
): Promise<void> {
  const model = new Model()
  let stage = await staged(open())
  for (const one of steps) {
    if (one.do === 'fold') await stage.home.flushAllPages()
    // Nothing was closed: what is not in pages yet is in the journal.
    else if (one.do === 'reopen') stage = await staged(open())
    // What only earlier versions need goes: the bases of deltas stay.
    else if (one.do === 'collect') await gc(stage.home, { keepHistory: new Date(Date.now() + 1) })
    else if (!isBatched) perform(stage, model, one)
    assertSame(stage, model)
  }
  if (isBatched) {
    const { posix } = stage
    posix.batch(() => {
      model.bytes = Buffer.alloc(0)
      for (const one of steps) {
        perform(stage, model, one)
        assertSame(stage, model)
      }
    })
    assertSame(stage, model)
    stage = await staged(open())
    assertSame(stage, model)
  }
  await assertSound(stage)
}

describe('the bytes of a file', () => {
  const steps = fc.array(step, { maxLength: 25 })

  it('are those of a plain buffer, in memory', async () => {
    await fc.assert(
      fc.asyncProperty(steps, fc.boolean(), async (all, isBatched) => {
        const engine = new MemoryEngine()
        await assertModelHolds(all, () => new StoreHome(engine), isBatched)
      }),
      { numRuns: 100 },
    )
  })

  it('are those of a plain buffer, on disk, opened again without having been closed', async () => {
    await fc.assert(
      fc.asyncProperty(steps, fc.boolean(), async (all, isBatched) => {
        const file = join(scratch, `home-${++places}`)
        const engines: SqliteEngine[] = []
        const open = () => {
          const engine = new SqliteEngine({ file })
          engines.push(engine)
          return new StoreHome(engine)
        }
        try {
          await assertModelHolds(all, open, isBatched)
        } finally {
          for (const engine of engines) await engine.close()
          rmSync(file, { force: true })
        }
      }),
      { numRuns: 30 },
    )
  })
})
