import type { Recorder } from '../../harness/benchmark.ts'
import { measureCold } from '../cold.ts'
import { InMemoryVolume } from './just-bash-cold.ts'

/** With a copy on the way in and out, so that no caller can change a stored file: what the others give. */
class CopyingVolume extends InMemoryVolume {
  override write(path: string, bytes: Uint8Array): Promise<void> {
    return this.fs.writeFile(path, new Uint8Array(bytes))
  }

  override async read(path: string): Promise<Uint8Array> {
    return new Uint8Array(await this.fs.readFileBuffer(path))
  }
}

export function measure(recorder: Recorder): Promise<void> {
  return measureCold(recorder, () => new CopyingVolume())
}
