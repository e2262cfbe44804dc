import { InMemoryFs, MountableFs } from 'just-bash'
import type { Recorder } from '../../harness/benchmark.ts'
import { measureSubject } from '../measure.ts'
import {
  countMatches,
  type GrepMode,
  joinChunks,
  type MountedVolume,
  type Volume,
  type Walked,
} from '../volume.ts'

/** `InMemoryFs` used directly, which is faster than through its `MountableFs`. */
class JustBashVolume implements Volume {
  readonly root = '/m'
  readonly #fs: InMemoryFs

  constructor(fs: InMemoryFs = new InMemoryFs()) {
    this.#fs = fs
  }

  mkdir(path: string): Promise<void> {
    return this.#fs.mkdir(path, { recursive: true })
  }

  write(path: string, bytes: Uint8Array): Promise<void> {
    return this.#fs.writeFile(path, bytes)
  }

  read(path: string): Promise<Uint8Array> {
    return this.#fs.readFileBuffer(path)
  }

  stat(path: string): Promise<{ readonly size: number }> {
    return this.#fs.stat(path)
  }

  // With types, as the other subjects give them; without them it is no faster.
  async countEntries(directory: string): Promise<number> {
    return (await this.#fs.readdirWithFileTypes(directory)).length
  }

  // Every path is a key of one map: asking for all of them is far faster than listing directory by directory.
  async walk(): Promise<Walked> {
    let files = 0
    let bytes = 0
    for (const path of this.#fs.getAllPaths()) {
      const { isFile, size } = await this.#fs.stat(path)
      if (!isFile) continue
      files++
      bytes += size
    }
    return { files, bytes }
  }

  // Reading a directory and catching its error is cheaper than a stat of everything: there are a hundred files to each.
  async countMatches(pattern: RegExp, mode: GrepMode): Promise<number> {
    let found = 0
    for (const path of this.#fs.getAllPaths()) {
      const text = await this.#fs.readFile(path).catch(noText)
      found += countMatches(text, pattern, mode)
    }
    return found
  }

  // There is no stream, and appendFile copies the file each time: a whole file is the fastest by far.
  writeChunks(path: string, chunks: Iterable<Uint8Array>): Promise<void> {
    return this.#fs.writeFile(path, joinChunks(chunks))
  }

  async readChunks(path: string, chunkSize: number): Promise<number> {
    const whole = await this.#fs.readFileBuffer(path)
    let bytes = 0
    for (let at = 0; at < whole.length; at += chunkSize) bytes += whole.subarray(at, at + chunkSize).length
    return bytes
  }

  // Its `cp` looks for children among all paths, again for every directory; one pass over them is twice as fast.
  async duplicate(): Promise<JustBashVolume> {
    const copy = new InMemoryFs()
    for (const path of this.#fs.getAllPaths()) {
      const stat = await this.#fs.stat(path)
      if (stat.isFile) copy.writeFileSync(path, await this.#fs.readFileBuffer(path), undefined, stat)
      else copy.mkdirSync(path, { recursive: true })
    }
    return new JustBashVolume(copy)
  }

  async [Symbol.asyncDispose](): Promise<void> {}
}

function noText(error: unknown): string {
  if (error instanceof Error && error.message.startsWith('EISDIR')) return ''
  throw error
}

async function openMounts(mountPoints: readonly string[]): Promise<MountedVolume> {
  const fs = new MountableFs({ base: new InMemoryFs() })
  for (const mountPoint of mountPoints) fs.mount(mountPoint, new InMemoryFs())
  return {
    write: (path, bytes) => fs.writeFile(path, bytes),
    stat: (path) => fs.stat(path),
    [Symbol.asyncDispose]: async () => {},
  }
}

export function measure(recorder: Recorder): Promise<void> {
  return measureSubject(recorder, {
    textFiles: 10_000,
    treeFiles: 100_000,
    warmUpFiles: 1000,
    duplicatesPerPass: 1,
    forks: false,
    open: async () => new JustBashVolume(),
    openMounts,
  })
}
