import { MemoryFs, readFile } from '../../../src/vfs/index.ts'
import type { Recorder } from '../../harness/benchmark.ts'
import { type ColdVolume, measureCold } from '../cold.ts'

/** `MemoryFs` itself, as `InMemoryFs` beside it has no mounts either. */
class MemoryVolume implements ColdVolume {
  readonly root = '/m'
  readonly #fs = new MemoryFs()

  mkdir(path: string): Promise<void> {
    return this.#fs.mkdir(path, { parents: true })
  }

  write(path: string, bytes: Uint8Array): Promise<void> {
    return this.#fs.write(path, bytes)
  }

  read(path: string): Promise<Uint8Array> {
    return readFile(this.#fs, path)
  }

  async [Symbol.asyncDispose](): Promise<void> {}
}

export function measure(recorder: Recorder): Promise<void> {
  return measureCold(recorder, () => new MemoryVolume())
}
