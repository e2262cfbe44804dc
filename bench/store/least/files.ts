import { createHash } from 'node:crypto'
import { mkdir, open, rm } from 'node:fs/promises'
import { crc32 } from 'node:zlib'
import type { Recorder, Settings } from '../../harness/benchmark.ts'
import { createTextFiles } from '../../vfs/corpus.ts'
import { LARGE_FILE_UNIT } from '../../vfs/large-file.ts'
import { generateDistinctChunks } from '../chunks.ts'
import { chooseScale } from '../scale.ts'
import { BareRows } from './rows.ts'

const SEGMENT_BYTES = 8 * 1024 ** 2
const CHUNK_BYTES = 32 * 1024

/** Small files as rows, and a large one as synced segments of hashed chunks: what a vault keeps, and nothing else. */
export async function measure(recorder: Recorder, settings: Settings): Promise<void> {
  const { textFiles: count, largeFileBytes } = chooseScale(settings)
  await measureRows(recorder, settings, count)
  const directory = `${settings.directory}/segments-${process.pid}`
  await mkdir(directory)
  const task = { operations: largeFileBytes / LARGE_FILE_UNIT, expected: largeFileBytes }
  await recorder.record('large-write', { ...task, pass: () => writeSegments(directory, largeFileBytes) })
  await recorder.record('large-read', { ...task, pass: () => readSegments(directory, largeFileBytes) })
  await rm(directory, { recursive: true })
}

async function measureRows(recorder: Recorder, settings: Settings, count: number): Promise<void> {
  const files = createTextFiles(count)
  let tables = 0
  const openRows = () => new BareRows(`${settings.directory}/rows-${process.pid}-${++tables}.db`)
  let rows = openRows()
  const task = {
    operations: count,
    expected: count,
    prepare: async () => {
      rows[Symbol.dispose]()
      rows = openRows()
    },
  }
  await recorder.record('write', {
    ...task,
    pass: async () => {
      for (const { path, bytes } of files) rows.commit('write', path, bytes)
      return count
    },
  })
  await recorder.record('write-together', {
    ...task,
    pass: async () => {
      rows.insertAll(files)
      return count
    },
  })
  rows[Symbol.dispose]()
}

async function writeSegments(directory: string, size: number): Promise<number> {
  const chunks = generateDistinctChunks(size, CHUNK_BYTES)
  for (let start = 0; start < size; start += SEGMENT_BYTES) {
    await using file = await open(`${directory}/${start}`, 'w')
    for (let position = 0; position < SEGMENT_BYTES; position += CHUNK_BYTES) {
      const { value: chunk } = chunks.next()
      if (chunk === undefined) throw new Error('too few chunks')
      crc32(chunk)
      createHash('sha256').update(chunk).digest()
      await file.write(chunk, 0, CHUNK_BYTES, position)
    }
    await file.datasync()
  }
  return size
}

async function readSegments(directory: string, size: number): Promise<number> {
  let total = 0
  for (let start = 0; start < size; start += SEGMENT_BYTES) {
    await using file = await open(`${directory}/${start}`)
    for (let position = 0; position < SEGMENT_BYTES; position += CHUNK_BYTES) {
      const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(CHUNK_BYTES), 0, CHUNK_BYTES, position)
      crc32(buffer)
      total += bytesRead
    }
  }
  return total
}
