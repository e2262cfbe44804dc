import { grep, MemoryFs, MountTable, readFile } from '../../../src/vfs/index.ts'
import type { Recorder } from '../../harness/benchmark.ts'
import { measureSubject } from '../measure.ts'
import type { MountedVolume, Volume, Walked } from '../volume.ts'

/** As it is used: a `MemoryFs` mounted below the root of a `MountTable`, and every path goes through the table. */
class CoppiceVolume implements Volume {
  readonly root = '/m'
  readonly #table: MountTable

  constructor(table: MountTable = new MountTable({ '/': new MemoryFs(), '/m': new MemoryFs() })) {
    this.#table = table
  }

  mkdir(path: string): Promise<void> {
    return this.#table.mkdir(path, { parents: true })
  }

  write(path: string, bytes: Uint8Array): Promise<void> {
    return this.#table.write(path, bytes)
  }

  read(path: string): Promise<Uint8Array> {
    return readFile(this.#table, path)
  }

  stat(path: string): Promise<{ readonly size: number }> {
    return this.#table.stat(path)
  }

  async countEntries(directory: string): Promise<number> {
    let entries = 0
    for await (const { name } of this.#table.readdir(directory)) if (name !== '') entries++
    return entries
  }

  async walk(): Promise<Walked> {
    let files = 0
    let bytes = 0
    for await (const { stat } of this.#table.walk(this.root)) {
      files++
      bytes += stat.size
    }
    return { files, bytes }
  }

  async countMatches(pattern: RegExp): Promise<number> {
    let found = 0
    for await (const { line } of grep(this.#table, this.root, pattern)) if (line > 0) found++
    return found
  }

  writeChunks(path: string, chunks: Iterable<Uint8Array>): Promise<void> {
    return this.#table.write(path, toStream(chunks))
  }

  async readChunks(path: string, chunkSize: number): Promise<number> {
    let bytes = 0
    for await (const chunk of this.#table.read(path, { chunkSize })) bytes += chunk.length
    return bytes
  }

  async duplicate(): Promise<CoppiceVolume> {
    return new CoppiceVolume(this.#table.fork())
  }

  async [Symbol.asyncDispose](): Promise<void> {}
}

async function* toStream(chunks: Iterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield* chunks
}

async function openMounts(mountPoints: readonly string[]): Promise<MountedVolume> {
  const table = new MountTable({ '/': new MemoryFs() })
  for (const mountPoint of mountPoints) table.mount(mountPoint, new MemoryFs())
  return {
    write: (path, bytes) => table.write(path, bytes),
    stat: (path) => table.stat(path),
    [Symbol.asyncDispose]: async () => {},
  }
}

export function measure(recorder: Recorder): Promise<void> {
  return measureSubject(recorder, {
    textFiles: 10_000,
    treeFiles: 100_000,
    warmUpFiles: 1000,
    duplicatesPerPass: 3000,
    forks: true,
    open: async () => new CoppiceVolume(),
    openMounts,
  })
}
