import { createReadStream, createWriteStream } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Settings } from '../../harness/benchmark.ts'
import { DiskVolume } from '../../vfs/disk-volume.ts'
import { chooseScale } from '../scale.ts'
import type { StoreSubject } from '../volume.ts'

/** The disk, with a large file through streams: what somebody without a store would write. */
class StreamingDiskVolume extends DiskVolume {
  override async writeChunks(path: string, chunks: Iterable<Uint8Array>): Promise<void> {
    await pipeline(Readable.from(chunks), createWriteStream(path))
  }

  override async readChunks(path: string, chunkSize: number): Promise<number> {
    let bytes = 0
    for await (const chunk of createReadStream(path, { highWaterMark: chunkSize })) bytes += chunk.length
    return bytes
  }
}

export function disk(settings: Settings): StoreSubject {
  const { textFiles, largeFileBytes } = chooseScale(settings)
  let volumes = 0
  return {
    textFiles,
    largeFileBytes,
    warmUpFiles: 500,
    async open() {
      const root = `${settings.directory}/disk-${process.pid}-${++volumes}`
      await mkdir(root)
      return new StreamingDiskVolume(root)
    },
  }
}
