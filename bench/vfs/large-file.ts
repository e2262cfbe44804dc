import type { Recorder } from '../harness/benchmark.ts'
import { generateChunks } from './corpus.ts'
import type { FileVolume } from './volume.ts'

const CHUNK_BYTES = 64 * 1024

/** Size of one operation, so that files of different sizes compare. */
export const LARGE_FILE_UNIT: number = 1024 ** 2

/** One large file, written from chunks and read in chunks. */
export async function measureLargeFile(
  recorder: Recorder,
  subject: { open(): Promise<FileVolume> },
  size: number,
  chunks: (size: number, chunkSize: number) => Iterable<Uint8Array> = generateChunks,
): Promise<void> {
  let volume = await subject.open()
  let path = ''
  await recorder.record('large-write', {
    operations: size / LARGE_FILE_UNIT,
    expected: size,
    prepare: async () => {
      await volume[Symbol.asyncDispose]()
      volume = await subject.open()
      path = `${volume.root}/large.bin`
    },
    async pass() {
      await volume.writeChunks(path, chunks(size, CHUNK_BYTES))
      return Number((await volume.stat(path)).size)
    },
  })
  await recorder.record('large-read', {
    operations: size / LARGE_FILE_UNIT,
    expected: size,
    pass: () => volume.readChunks(path, CHUNK_BYTES),
  })
  await volume[Symbol.asyncDispose]()
}
