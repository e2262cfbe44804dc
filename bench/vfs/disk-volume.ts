import { constants, copyFile, mkdir, open, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import {
  countMatchingLines,
  type Entry,
  type NodeStyle,
  readHandle,
  walkDirectories,
  writeHandle,
} from './node-style.ts'
import type { GrepMode, Volume, Walked } from './volume.ts'

/** `node:fs/promises` on the disk this repository is on. Nothing is synced: the page cache serves it all. */
export class DiskVolume implements Volume, NodeStyle {
  readonly root: string

  constructor(root: string) {
    this.root = root
  }

  mkdir(path: string): Promise<unknown> {
    return mkdir(path, { recursive: true })
  }

  write(path: string, bytes: Uint8Array): Promise<void> {
    return writeFile(path, bytes)
  }

  read(path: string): Promise<Uint8Array> {
    return readFile(path)
  }

  stat(path: string): Promise<{ readonly size: number }> {
    return stat(path)
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

  // Faster than createWriteStream, and as fast as writeFile with an iterable.
  async writeChunks(path: string, chunks: Iterable<Uint8Array>): Promise<void> {
    await writeHandle(await open(path, 'w'), chunks)
  }

  async readChunks(path: string, chunkSize: number): Promise<number> {
    return readHandle(await open(path, 'r'), chunkSize)
  }

  // Five times as fast as `cp`; shares blocks where the disk can.
  async duplicate(): Promise<DiskVolume> {
    const copy = new DiskVolume(`${this.root}-copy`)
    const directories = [this.root]
    for (let directory = directories.pop(); directory !== undefined; directory = directories.pop()) {
      const source = directory
      const target = copy.root + source.slice(this.root.length)
      await mkdir(target, { recursive: true })
      const entries = await this.list(source)
      const files = entries.filter((entry) => !entry.isDirectory())
      directories.push(
        ...entries.filter((entry) => entry.isDirectory()).map(({ name }) => `${source}/${name}`),
      )
      await Promise.all(
        files.map(({ name }) =>
          copyFile(`${source}/${name}`, `${target}/${name}`, constants.COPYFILE_FICLONE),
        ),
      )
    }
    return copy
  }

  list(directory: string): Promise<readonly Entry[]> {
    return readdir(directory, { withFileTypes: true })
  }

  async size(path: string): Promise<number> {
    return (await stat(path)).size
  }

  text(path: string): Promise<string> {
    return readFile(path, 'utf8')
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.root, { recursive: true, force: true })
  }
}
