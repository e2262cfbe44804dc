import { type IFs, memfs } from 'memfs'
import type { Recorder } from '../../harness/benchmark.ts'
import { measureSubject } from '../measure.ts'
import {
  countMatchingLines,
  type Entry,
  type NodeStyle,
  readHandle,
  walkDirectories,
  writeHandle,
} from '../node-style.ts'
import type { GrepMode, Volume, Walked } from '../volume.ts'

/** A volume of its own for each test, through `fs.promises`. */
class MemfsVolume implements Volume, NodeStyle {
  readonly root = '/m'
  readonly #fs: IFs
  readonly #promises: IFs['promises']

  constructor(fs: IFs) {
    this.#fs = fs
    this.#promises = fs.promises
    fs.mkdirSync(this.root, { recursive: true })
  }

  mkdir(path: string): Promise<unknown> {
    return this.#promises.mkdir(path, { recursive: true })
  }

  write(path: string, bytes: Uint8Array): Promise<void> {
    return this.#promises.writeFile(path, bytes)
  }

  read(path: string): Promise<Uint8Array | string> {
    return this.#promises.readFile(path)
  }

  stat(path: string): Promise<{ readonly size: number | bigint }> {
    return this.#promises.stat(path)
  }

  async countEntries(directory: string): Promise<number> {
    return (await this.list(directory)).length
  }

  walk(): Promise<Walked> {
    return walkDirectories(this, this.root)
  }

  countMatches(pattern: RegExp, mode: GrepMode): Promise<number> {
    return countMatchingLines(this, this.root, pattern, mode)
  }

  // A handle beats createWriteStream and a whole file by a little. Setting the size first would be faster still, but
  // whoever writes a stream does not know it.
  async writeChunks(path: string, chunks: Iterable<Uint8Array>): Promise<void> {
    await writeHandle(await this.#promises.open(path, 'w'), chunks)
  }

  async readChunks(path: string, chunkSize: number): Promise<number> {
    return readHandle(await this.#promises.open(path, 'r'), chunkSize)
  }

  // Twice as fast as its `cp`, synchronous or not.
  async duplicate(): Promise<MemfsVolume> {
    const { fs: copy } = memfs()
    const directories = [this.root]
    for (let directory = directories.pop(); directory !== undefined; directory = directories.pop()) {
      copy.mkdirSync(directory, { recursive: true })
      for (const entry of withTypes(this.#fs.readdirSync(directory, { withFileTypes: true }))) {
        const path = `${directory}/${entry.name}`
        if (entry.isDirectory()) directories.push(path)
        else copy.writeFileSync(path, this.#fs.readFileSync(path))
      }
    }
    return new MemfsVolume(copy)
  }

  async list(directory: string): Promise<readonly Entry[]> {
    return withTypes(await this.#promises.readdir(directory, { withFileTypes: true }))
  }

  async size(path: string): Promise<number | bigint> {
    return (await this.#promises.stat(path)).size
  }

  async text(path: string): Promise<string> {
    return String(await this.#promises.readFile(path, 'utf8'))
  }

  async [Symbol.asyncDispose](): Promise<void> {}
}

/** Its types do not tell that `withFileTypes` leaves no plain names. */
function withTypes(entries: readonly (Entry | string | Uint8Array)[]): readonly Entry[] {
  return entries.filter((entry): entry is Entry => typeof entry === 'object' && 'isDirectory' in entry)
}

export function measure(recorder: Recorder): Promise<void> {
  return measureSubject(recorder, {
    textFiles: 10_000,
    treeFiles: 100_000,
    warmUpFiles: 1000,
    duplicatesPerPass: 1,
    forks: false,
    open: async () => new MemfsVolume(memfs().fs),
  })
}
