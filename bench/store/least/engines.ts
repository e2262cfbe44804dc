import { rm } from 'node:fs/promises'
import { ClassicLevel } from 'classic-level'
import { open as openLmdb } from 'lmdb'
import type { Recorder, Settings } from '../../harness/benchmark.ts'
import { createTextFiles } from '../../vfs/corpus.ts'
import { chooseScale } from '../scale.ts'

/** Abortable, committed before it returns, its data synced: the flags of our engine. */
const LMDB_FLAGS = 0x3 | 0x40000
const ROW_BYTES = 200

/**
 * The rows that a write leaves, content and history, in one synced commit of the engine alone. LMDB has its tables, and
 * counts commits in a third.
 */
export async function measure(recorder: Recorder, settings: Settings): Promise<void> {
  const files = createTextFiles(chooseScale(settings).slowTextFiles)
  const row = Buffer.alloc(ROW_BYTES, 1)
  const task = { operations: files.length, expected: files.length }
  const directory = `${settings.directory}/bare-${process.pid}`

  const lmdb = openLmdb<Uint8Array, number>(`${directory}-lmdb`, {
    encoding: 'binary',
    noSubdir: false,
    noSync: false,
    overlappingSync: false,
  })
  const [blobs, journal, meta] = ['blobs', 'journal', 'meta'].map((name) =>
    lmdb.openDB<Uint8Array, number>(name, { encoding: 'binary' }),
  )
  let seq = 0
  await recorder.record('write-lmdb', {
    ...task,
    pass: async () => {
      for (const { bytes } of files)
        lmdb.transactionSync(() => {
          blobs?.putSync(++seq, bytes)
          journal?.putSync(seq, row)
          meta?.putSync(0, row)
        }, LMDB_FLAGS)
      return files.length
    },
  })
  await lmdb.close()

  const level = new ClassicLevel<string, Uint8Array>(`${directory}-level`, { valueEncoding: 'view' })
  await recorder.record('write-level', {
    ...task,
    pass: async () => {
      for (const { bytes } of files) {
        const key = String(++seq).padStart(9, '0')
        const rows = [
          { type: 'put' as const, key: `b${key}`, value: bytes },
          { type: 'put' as const, key: `j${key}`, value: row },
        ]
        await level.batch(rows, { sync: true })
      }
      return files.length
    },
  })
  await level.close()
  for (const engine of ['lmdb', 'level']) await rm(`${directory}-${engine}`, { recursive: true })
}
