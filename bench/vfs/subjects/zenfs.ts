import { configure, configureSingle, fs, InMemory, mount, umount } from '@zenfs/core'
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
import type { GrepMode, MountedVolume, Volume, Walked } from '../volume.ts'

const { promises } = fs

/** Its `InMemory` backend as the only mount, at the root; access checks off, which its documentation calls faster. */
class ZenfsVolume implements Volume, NodeStyle {
  readonly root: string

  constructor(root: string) {
    this.root = root
  }

  mkdir(path: string): Promise<unknown> {
    return promises.mkdir(path, { recursive: true })
  }

  write(path: string, bytes: Uint8Array): Promise<void> {
    return promises.writeFile(path, bytes)
  }

  read(path: string): Promise<Uint8Array> {
    return promises.readFile(path)
  }

  stat(path: string): Promise<{ readonly size: number }> {
    return promises.stat(path)
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

  async writeChunks(path: string, chunks: Iterable<Uint8Array>): Promise<void> {
    await writeHandle(await promises.open(path, 'w'), chunks)
  }

  async readChunks(path: string, chunkSize: number): Promise<number> {
    return readHandle(await promises.open(path, 'r'), chunkSize)
  }

  // Faster than its `cp` and `cpSync`.
  async duplicate(): Promise<ZenfsVolume> {
    const copy = new ZenfsVolume(`${this.root}-copy`)
    const directories = [this.root]
    for (let directory = directories.pop(); directory !== undefined; directory = directories.pop()) {
      const target = copy.root + directory.slice(this.root.length)
      fs.mkdirSync(target, { recursive: true })
      for (const entry of fs.readdirSync(directory, { withFileTypes: true })) {
        if (entry.isDirectory()) directories.push(`${directory}/${entry.name}`)
        else fs.writeFileSync(`${target}/${entry.name}`, fs.readFileSync(`${directory}/${entry.name}`))
      }
    }
    return copy
  }

  list(directory: string): Promise<readonly Entry[]> {
    return promises.readdir(directory, { withFileTypes: true })
  }

  async size(path: string): Promise<number> {
    return (await promises.stat(path)).size
  }

  text(path: string): Promise<string> {
    return promises.readFile(path, 'utf8')
  }

  // The next volume replaces the whole backend.
  async [Symbol.asyncDispose](): Promise<void> {}
}

async function open(): Promise<ZenfsVolume> {
  await configureSingle({ backend: InMemory })
  await configure({ disableAccessChecks: true })
  const volume = new ZenfsVolume('/m')
  await volume.mkdir(volume.root)
  return volume
}

async function openMounts(mountPoints: readonly string[]): Promise<MountedVolume> {
  await open()
  for (const mountPoint of mountPoints) {
    await promises.mkdir(mountPoint, { recursive: true })
    mount(mountPoint, InMemory.create({}))
  }
  return {
    write: (path, bytes) => promises.writeFile(path, bytes),
    stat: (path) => promises.stat(path),
    [Symbol.asyncDispose]: async () => {
      for (const mountPoint of mountPoints) umount(mountPoint)
    },
  }
}

export function measure(recorder: Recorder): Promise<void> {
  return measureSubject(recorder, {
    // It makes two thousand files a second, however many there are.
    textFiles: 2000,
    treeFiles: 2000,
    warmUpFiles: 200,
    duplicatesPerPass: 1,
    forks: false,
    open,
    openMounts,
  })
}
