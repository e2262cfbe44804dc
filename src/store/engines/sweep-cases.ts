import assert from 'node:assert/strict'
import type { Engine } from '../engine.ts'
import { blob, bytes, createHashRow, createTestHash, getSeq, row, text } from './suite-rows.ts'

export type TestCase = (name: string, body: () => Promise<void>) => unknown

/** Defines the tests of garbage collection. `withEngine` runs a test on an empty home. */
export function defineSweepCases(
  it: TestCase,
  withEngine: (test: (engine: Engine) => Promise<void>) => Promise<void>,
): void {
  it('refuses a batch that requires a hash to lead to a blob to which it does not', () =>
    withEngine(async (engine) => {
      await engine.commit({ blobs: [blob(1, 'a'), blob(2, 'b')] })
      const records = [{ key: 'head', bytes: bytes('x') }]
      const foreign = [
        [{ hash: createTestHash('a'), blob: 2 }],
        [createHashRow(1, 'a'), createHashRow(3, 'c')],
        [{ hash: createTestHash('b'), blob: 1 }],
      ]
      for (const requires of foreign) assert.equal(await engine.commit({ requires, records }), false)
      assert.equal(await engine.readRecord('head'), undefined)
      assert.equal(
        await engine.commit({ requires: [createHashRow(1, 'a'), createHashRow(2, 'b')], records }),
        true,
      )
      await engine.commit({ sweep: { hashes: [createHashRow(1, 'a')] } })
      assert.equal(await engine.commit({ requires: [createHashRow(1, 'a')], records }), false)
    }))

  it('sweeps pages, and rows of a journal up to a place', () =>
    withEngine(async (engine) => {
      await engine.commit({
        pages: [1, 2, 3].map((id) => ({ id, bytes: bytes('p') })),
        journal: [row(1, 1), row(1, 2), row(1, 3), row(2, 1)],
      })
      await engine.commit({ sweep: { pages: [1, 3, 9], journal: [{ vault: 1, upTo: 2 }] } })
      assert.deepEqual(await engine.listPages(0, 10), [2])
      assert.equal(await engine.readPage(1), undefined)
      assert.deepEqual((await engine.readJournal(1, 0, 10)).map(getSeq), [3])
      assert.deepEqual((await engine.readJournal(2, 0, 10)).map(getSeq), [1])
      assert.equal(await engine.commit({ journal: [row(1, 2)] }), false)
      assert.equal(await engine.commit({ journal: [row(1, 4)] }), true)
      await engine.commit({ sweep: { journal: [{ vault: 1, upTo: Number.MAX_SAFE_INTEGER }] } })
      assert.deepEqual(await engine.readJournal(1, 0, 10), [])
      assert.deepEqual((await engine.readJournal(2, 0, 10)).map(getSeq), [1])
    }))

  it('sweeps a blob in two steps, unless somebody has come to need it in between', () =>
    withEngine(async (engine) => {
      await engine.commit({ blobs: [blob(1, 'a'), blob(2, 'b'), blob(3, '')] })
      const wrong = [{ hash: createTestHash('a'), blob: 2 }]
      await engine.commit({ sweep: { hashes: wrong } })
      assert.equal(await engine.findBlob(createTestHash('a')), 1)
      await engine.commit({ sweep: { blobs: [createHashRow(1, 'a'), { hash: new Uint8Array(0), blob: 3 }] } })
      assert.deepEqual(await engine.listBlobs(0, 10), [1, 2])

      await engine.commit({ sweep: { hashes: [createHashRow(1, 'a'), createHashRow(2, 'b')] } })
      assert.equal(await engine.findBlob(createTestHash('a')), undefined)
      assert.equal(text(await engine.readBlob(1)), 'a')
      await engine.commit({ blobs: [blob(2, 'b'), blob(4, 'a')] })
      await engine.commit({ sweep: { blobs: [createHashRow(1, 'a'), createHashRow(2, 'b')] } })
      assert.deepEqual(await engine.listBlobs(0, 10), [2, 4])
      assert.equal(await engine.readBlob(1), undefined)
      assert.equal(await engine.findBlob(createTestHash('b')), 2)
    }))

  it('gives back the room of what was swept, where it can, and keeps the rest', () =>
    withEngine(async (engine) => {
      const blobs = Array.from({ length: 60 }, (_, index) => {
        const { id, hash } = blob(index + 1, `${index}`)
        return { id, hash, bytes: bytes(`${index} `.repeat(20_000)) }
      })
      for (const each of blobs) await engine.commit({ blobs: [each] })
      await engine.commit({ records: [{ key: 'head', bytes: bytes('x') }], journal: [row(1, 1)] })
      const dead = blobs.filter(({ id }) => id % 6 !== 0).map(({ id, hash }) => ({ blob: id, hash }))
      await engine.commit({ sweep: { hashes: dead, blobs: dead } })
      let given = 0
      for (let more = await engine.shrink?.(); more !== undefined && more > 0; more = await engine.shrink?.())
        given += more
      if (engine.name === 'sqlite') assert.ok(given > 40 * 40_000, `it gave back ${given} bytes`)
      for (const { id, hash, bytes: whole } of blobs.filter(({ id }) => id % 6 === 0)) {
        assert.deepEqual(Buffer.from((await engine.readBlob(id)) ?? []), Buffer.from(whole))
        assert.equal(await engine.findBlob(hash), id)
      }
      assert.equal(text(await engine.readRecord('head')), 'x')
      assert.deepEqual((await engine.readJournal(1, 0, 10)).map(getSeq), [1])
      assert.equal(await engine.commit({ blobs: [blob(99, 'new')] }), true)
    }))

  it('sweeps hashes first, then blobs, and then puts what the batch brings', () =>
    withEngine(async (engine) => {
      await engine.commit({ blobs: [blob(1, 'a'), blob(2, 'b')] })
      const swept = [createHashRow(1, 'a'), createHashRow(2, 'b')]
      await engine.commit({ sweep: { hashes: swept, blobs: swept }, blobs: [blob(2, 'b')] })
      assert.deepEqual(await engine.listBlobs(0, 10), [2])
      assert.equal(await engine.findBlob(createTestHash('a')), undefined)
      assert.equal(await engine.findBlob(createTestHash('b')), 2)
    }))

  it('sweeps nothing with a batch it refuses', () =>
    withEngine(async (engine) => {
      await engine.commit({
        pages: [{ id: 1, bytes: bytes('p') }],
        blobs: [blob(1, 'a')],
        journal: [row(1, 1)],
      })
      const sweep = {
        pages: [1],
        hashes: [createHashRow(1, 'a')],
        blobs: [createHashRow(1, 'a')],
        journal: [{ vault: 1, upTo: 1 }],
      }
      assert.equal(await engine.commit({ expect: [{ key: 'no', bytes: bytes('x') }], sweep }), false)
      assert.equal(text(await engine.readPage(1)), 'p')
      assert.equal(text(await engine.readBlob(1)), 'a')
      assert.equal(await engine.findBlob(createTestHash('a')), 1)
      assert.equal((await engine.readJournal(1, 0, 10)).length, 1)
    }))
}
