import { InMemoryFs } from 'just-bash'
import type { Recorder } from '../../harness/benchmark.ts'
import { type ColdVolume, measureCold } from '../cold.ts'

/** It stores the array that it is given, and hands out the array that it stores. */
export class InMemoryVolume implements ColdVolume {
  readonly root = '/m'
  protected readonly fs: InMemoryFs = new InMemoryFs()

  mkdir(path: string): Promise<void> {
    return this.fs.mkdir(path, { recursive: true })
  }

  write(path: string, bytes: Uint8Array): Promise<void> {
    return this.fs.writeFile(path, bytes)
  }

  read(path: string): Promise<Uint8Array> {
    return this.fs.readFileBuffer(path)
  }

  async [Symbol.asyncDispose](): Promise<void> {}
}

export function measure(recorder: Recorder): Promise<void> {
  return measureCold(recorder, () => new InMemoryVolume())
}
