import assert from 'node:assert/strict'
import type { Engine, MaybePromise } from './engine.ts'
import { blob, bytes, createHashRow, createTestHash, getSeq, row, text } from './engines/suite-rows.ts'
import { defineSweepCases, type TestCase } from './engines/sweep-cases.ts'

/** An engine to test against the contract. */
export interface EngineSubject {
  readonly name: string
  /** Opens the home at a path. The path is empty first; reopening finds what was stored. */
  readonly open: (path: string) => Engine | Promise<Engine>
  /** Returns a new empty path. */
  readonly place: () => string
  /** Commits survive a close and reopen. */
  readonly isPersistent: boolean
  /** Two engines may have one path open at once. */
  readonly isShared: boolean
}

interface EngineRunner {
  readonly describe: (name: string, body: () => void) => unknown
  readonly it: TestCase
}

async function collectAll(list: (after: number) => MaybePromise<readonly number[]>): Promise<number[]> {
  const all: number[] = []
  for (let page = await list(0); page.length > 0; page = await list(all.at(-1) ?? 0)) all.push(...page)
  return all
}

/** Defines the engine contract as tests of the given runner. */
export function engineSuite({ describe, it }: EngineRunner, subject: EngineSubject): void {
  const withEngine = async (test: (engine: Engine) => Promise<void>) => {
    await using engine = await subject.open(subject.place())
    await test(engine)
  }

  describe(`${subject.name} engine`, () => {
    it('gives back pages and blobs as they were put', () =>
      withEngine(async (engine) => {
        const hash = bytes('h'.repeat(32))
        const blobs = [{ id: 7, hash, bytes: new Uint8Array(100_000).fill(3) }]
        assert.equal(await engine.commit({ pages: [{ id: 1, bytes: bytes('page') }], blobs }), true)
        assert.equal(text(await engine.readPage(1)), 'page')
        assert.equal((await engine.readBlob(7))?.length, 100_000)
        assert.equal(await engine.findBlob(hash), 7)
        assert.equal(await engine.readPage(2), undefined)
        assert.equal(await engine.readBlob(1), undefined)
        assert.equal(await engine.findBlob(bytes('x'.repeat(32))), undefined)
      }))

    it('reads in a batch what it reads one by one, in the order of the request', () =>
      withEngine(async (engine) => {
        if (engine.readBatch === undefined) return
        await engine.commit({
          pages: [1, 2].map((id) => ({ id, bytes: bytes(`page ${id}`) })),
          blobs: [blob(3, 'three'), blob(4, 'four')],
          records: [{ key: 'known', bytes: bytes('record') }],
          journal: [row(1, 1), row(1, 2), row(1, 3), row(2, 1)],
        })
        const journals = [
          { vault: 2, after: 0, limit: 10 },
          { vault: 1, after: 1, limit: 1 },
          { vault: 3, after: 0, limit: 10 },
        ]
        const found = await engine.readBatch({
          pages: [2, 9, 1],
          blobs: [4, 9, 3],
          hashes: [createTestHash('four'), createTestHash('none'), createTestHash('three')],
          records: ['unknown', 'known'],
          journals,
        })
        assert.deepEqual(found.pages.map(text), ['page 2', undefined, 'page 1'])
        assert.deepEqual(found.blobs.map(text), ['four', undefined, 'three'])
        assert.deepEqual(found.hashes, [4, undefined, 3])
        assert.deepEqual(found.records.map(text), [undefined, 'record'])
        const ranges = journals.map(({ vault, after, limit }) => engine.readJournal(vault, after, limit))
        assert.deepEqual(found.journals, await Promise.all(ranges))
        const none = { pages: [], blobs: [], hashes: [], records: [], journals: [] }
        assert.deepEqual(await engine.readBatch(none), none)
      }))

    it('keeps records by name, and lists those of a prefix in order', () =>
      withEngine(async (engine) => {
        const records = ['vault/b', 'vault/a', 'vaults', 'other'].map((key) => ({ key, bytes: bytes(key) }))
        await engine.commit({ records })
        assert.deepEqual(
          (await engine.listRecords('vault/')).map(({ key }) => key),
          ['vault/a', 'vault/b'],
        )
        await engine.commit({ records: [{ key: 'vault/a', bytes: null }] })
        assert.equal(await engine.readRecord('vault/a'), undefined)
        assert.equal(text(await engine.readRecord('vault/b')), 'vault/b')
      }))

    it('refuses a batch whose expectation fails, and changes nothing', () =>
      withEngine(async (engine) => {
        await engine.commit({
          expect: [{ key: 'head', bytes: null }],
          records: [{ key: 'head', bytes: bytes('1') }],
        })
        const late = { key: 'head', bytes: bytes('late') }
        for (const expected of [null, bytes('0')]) {
          const batch = {
            expect: [{ key: 'head', bytes: expected }],
            records: [late],
            pages: [{ id: 9, bytes: bytes('p') }],
          }
          assert.equal(await engine.commit(batch), false)
        }
        assert.equal(text(await engine.readRecord('head')), '1')
        assert.equal(await engine.readPage(9), undefined)
        assert.equal(
          await engine.commit({ expect: [{ key: 'head', bytes: bytes('1') }], records: [late] }),
          true,
        )
      }))

    it('keeps each journal in order, and a place for one row only', () =>
      withEngine(async (engine) => {
        assert.equal(await engine.commit({ journal: [row(1, 1, 'a'), row(1, 2, 'b'), row(2, 1, 'x')] }), true)
        assert.equal(
          await engine.commit({
            journal: [row(1, 2, 'taken')],
            records: [{ key: 'k', bytes: bytes('v') }],
          }),
          false,
        )
        assert.equal(await engine.readRecord('k'), undefined)
        assert.equal(await engine.commit({ journal: [row(1, 3, 'c')] }), true)
        const rows = await engine.readJournal(1, 0, 10)
        assert.deepEqual(
          rows.map(({ seq, bytes }) => [seq, text(bytes)]),
          [
            [1, 'a'],
            [2, 'b'],
            [3, 'c'],
          ],
        )
        assert.deepEqual(
          (await engine.readJournal(1, 1, 1)).map(({ seq }) => seq),
          [2],
        )
        assert.deepEqual((await engine.readJournal(3, 0, 10)).length, 0)
      }))

    it('keeps a journal that starts late, and numbers of any size', () =>
      withEngine(async (engine) => {
        const listSeqs = async (vault: number, after: number, limit = 10) =>
          (await engine.readJournal(vault, after, limit)).map(getSeq)
        for (const vault of [3, 255, 200_000, 5_000_000]) {
          assert.equal(await engine.commit({ journal: [row(vault, 43), row(vault, 44)] }), true)
          assert.equal(await engine.commit({ journal: [row(vault, 45)] }), true)
          assert.deepEqual(await listSeqs(vault, 0), [43, 44, 45])
          assert.deepEqual(await listSeqs(vault, 0, 2), [43, 44])
          assert.deepEqual(await listSeqs(vault, 42, 1), [43])
          assert.deepEqual(await listSeqs(vault, 43), [44, 45])
          assert.deepEqual(await listSeqs(vault, 45), [])
          assert.equal(await engine.commit({ journal: [row(vault, 44)] }), false)
        }
        assert.equal(await engine.commit({ pages: [{ id: 2 ** 40, bytes: bytes('far') }] }), true)
        assert.equal(text(await engine.readPage(2 ** 40)), 'far')
      }))

    defineSweepCases(it, withEngine)

    it('lists pages and blobs in order of their ids, some at a time', () =>
      withEngine(async (engine) => {
        const ids = [300, 1, 2 ** 33, 2, 255, 256, 65_536]
        const sorted = ids.toSorted((one, other) => one - other)
        await engine.commit({ pages: ids.map((id) => ({ id, bytes: bytes('p') })) })
        await engine.commit({ blobs: ids.slice(0, 3).map((id) => blob(id, String(id))) })
        assert.deepEqual(await collectAll((after) => engine.listPages(after, 2)), sorted)
        assert.deepEqual(await engine.listPages(256, 100), [300, 65_536, 2 ** 33])
        assert.deepEqual(await engine.listBlobs(0, 2), [1, 300])
        assert.deepEqual(await engine.listBlobs(300, 2), [2 ** 33])
        await engine.commit({ sweep: { pages: [2, 65_536] }, pages: [{ id: 77, bytes: bytes('p') }] })
        assert.deepEqual(await engine.listPages(0, 100), [1, 77, 255, 256, 300, 2 ** 33])
      }))

    it('reports its usage', () =>
      withEngine(async (engine) => {
        const empty = { count: 0, bytes: 0 }
        const { totalBytes: _, ...before } = await engine.usage()
        assert.deepEqual(before, { pages: empty, blobs: empty, journal: empty })
        await engine.commit({
          pages: [1, 2].map((id) => ({ id, bytes: new Uint8Array(1000) })),
          blobs: [{ id: 1, hash: createTestHash('x'), bytes: new Uint8Array(50_000) }, blob(2, '')],
          journal: [row(1, 7), row(4, 1)],
        })
        const { totalBytes, ...usage } = await engine.usage()
        assert.deepEqual(usage, {
          pages: { count: 2, bytes: 2000 },
          blobs: { count: 2, bytes: 50_000 },
          journal: { count: 2, bytes: 2 },
        })
        // The disk may compress it.
        assert.ok(totalBytes > 0)
        await engine.commit({
          sweep: { pages: [2], blobs: [createHashRow(2, '')], journal: [{ vault: 4, upTo: 1 }] },
        })
        const after = await engine.usage()
        assert.deepEqual([after.pages.count, after.blobs.count, after.journal.count], [1, 1, 1])
      }))

    it('decides between batches that come at once: one of them is accepted', () =>
      withEngine(async (engine) => {
        const attempts = Array.from({ length: 8 }, (_, index) =>
          engine.commit({ journal: [row(1, 1)], records: [{ key: 'winner', bytes: bytes(`${index}`) }] }),
        )
        const accepted = await Promise.all(attempts)
        assert.equal(accepted.filter(Boolean).length, 1)
        assert.equal(text(await engine.readRecord('winner')), String(accepted.indexOf(true)))
        assert.equal((await engine.readJournal(1, 0, 10)).length, 1)
      }))

    it('never answers with a promise if it says so', () =>
      withEngine(async (engine) => {
        if (!engine.isSync) return
        const answers: unknown[] = [
          engine.commit({ journal: [row(1, 1)], blobs: [blob(1, 'x')] }),
          engine.readPage(1),
          engine.readBlob(1),
          engine.findBlob(createTestHash('x')),
          engine.readRecord('none'),
          engine.listRecords('none'),
          engine.readJournal(1, 0, 10),
          engine.changeCount(),
          engine.sync(),
        ]
        assert.ok(answers.every((answer) => !(answer instanceof Promise)))
      }))

    it('takes a sync, and closes twice without complaint', async () => {
      const engine = await subject.open(subject.place())
      await engine.commit({ pages: [{ id: 1, bytes: bytes('x') }], durable: true })
      await engine.sync()
      await engine.close()
      await engine.close()
    })

    if (subject.isPersistent) {
      it('has after another open what was committed before', async () => {
        const path = subject.place()
        await using first = await subject.open(path)
        await first.commit({
          pages: [{ id: 5, bytes: bytes('kept') }],
          journal: [{ vault: 1, seq: 1, bytes: bytes('j') }],
        })
        await first.close()
        await using second = await subject.open(path)
        assert.equal(text(await second.readPage(5)), 'kept')
        assert.equal((await second.readJournal(1, 0, 10)).length, 1)
      })
    }

    if (subject.isShared) {
      it('shows one opener what another committed, and reports a change', async () => {
        const path = subject.place()
        await using one = await subject.open(path)
        await using other = await subject.open(path)
        const before = await one.changeCount()
        await other.commit({ journal: [{ vault: 1, seq: 1, bytes: bytes('theirs') }] })
        assert.notEqual(await one.changeCount(), before)
        assert.equal((await one.readJournal(1, 0, 10)).length, 1)
        assert.equal(await one.commit({ journal: [{ vault: 1, seq: 1, bytes: bytes('mine') }] }), false)
      })
    }
  })
}
