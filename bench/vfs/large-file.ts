import type { Recorder } from '../harness/benchmark.ts'
import { chunksOf } from './corpus.ts'
import type { Subject } from './volume.ts'

const CHUNK_BYTES = 64 * 1024

/** One large file, written from chunks and read in chunks. */
export async function measureLargeFile(recorder: Recorder, subject: Subject, size: number): Promise<void> {
  let volume = await subject.open()
  let path = ''
  await recorder.record('large-write', {
    operations: 1,
    expected: size,
    prepare: async () => {
      await volume[Symbol.asyncDispose]()
      volume = await subject.open()
      path = `${volume.root}/large.bin`
    },
    async pass() {
      await volume.writeChunks(path, chunksOf(size, CHUNK_BYTES))
      return Number((await volume.stat(path)).size)
    },
  })
  await recorder.record('large-read', {
    operations: 1,
    expected: size,
    pass: () => volume.readChunks(path, CHUNK_BYTES),
  })
  await volume[Symbol.asyncDispose]()
}
