import assert from 'node:assert/strict'
import type { Engine } from './engine.ts'

/** An engine to hold against the contract. */
export interface EngineSubject {
  readonly name: string
  /** Opens the home at a place, which is empty the first time and holds what was left there the next. */
  readonly open: (place: string) => Engine | Promise<Engine>
  /** Makes a new place. */
  readonly place: () => string
  /** What is committed is there after a close and another open. */
  readonly isPersistent: boolean
  /** Two may be open on one place at once. */
  readonly isShared: boolean
}

interface EngineRunner {
  readonly describe: (name: string, body: () => void) => unknown
  readonly it: (name: string, body: () => Promise<void>) => unknown
}

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
function text(found: Uint8Array | undefined): string | undefined {
  return found && Buffer.from(found).toString()
}

/** The contract of an engine as tests of the given runner. */
export function engineSuite({ describe, it }: EngineRunner, subject: EngineSubject): void {
  const on = async (test: (engine: Engine) => Promise<void>) => {
    await using engine = await subject.open(subject.place())
    await test(engine)
  }

  describe(`${subject.name} engine`, () => {
    it('gives back pages and blobs as they were put', () =>
      on(async (engine) => {
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

    it('keeps records by name, and lists those of a prefix in order', () =>
      on(async (engine) => {
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
      on(async (engine) => {
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
      on(async (engine) => {
        const row = (vault: number, seq: number, content: string) => ({ vault, seq, bytes: bytes(content) })
        assert.equal(await engine.commit({ journal: [row(1, 1, 'a'), row(1, 2, 'b'), row(2, 1, 'x')] }), true)
        assert.equal(
          await engine.commit({ journal: [row(1, 2, 'taken')], records: [{ key: 'k', bytes: bytes('v') }] }),
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

    it('takes a sync, and closes twice without complaint', async () => {
      const engine = await subject.open(subject.place())
      await engine.commit({ pages: [{ id: 1, bytes: bytes('x') }], durable: true })
      await engine.sync()
      await engine.close()
      await engine.close()
    })

    if (subject.isPersistent) {
      it('has after another open what was committed before', async () => {
        const place = subject.place()
        await using first = await subject.open(place)
        await first.commit({
          pages: [{ id: 5, bytes: bytes('kept') }],
          journal: [{ vault: 1, seq: 1, bytes: bytes('j') }],
        })
        await first.close()
        await using second = await subject.open(place)
        assert.equal(text(await second.readPage(5)), 'kept')
        assert.equal((await second.readJournal(1, 0, 10)).length, 1)
      })
    }

    if (subject.isShared) {
      it('shows one opener what another committed, and tells that something changed', async () => {
        const place = subject.place()
        await using one = await subject.open(place)
        await using other = await subject.open(place)
        const before = await one.changeCount()
        await other.commit({ journal: [{ vault: 1, seq: 1, bytes: bytes('theirs') }] })
        assert.notEqual(await one.changeCount(), before)
        assert.equal((await one.readJournal(1, 0, 10)).length, 1)
        assert.equal(await one.commit({ journal: [{ vault: 1, seq: 1, bytes: bytes('mine') }] }), false)
      })
    }
  })
}
