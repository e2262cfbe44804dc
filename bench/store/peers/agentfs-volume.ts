import { mkdir, rm } from 'node:fs/promises'
import { AgentFS } from 'agentfs-sdk'
import type { Settings } from '../../harness/benchmark.ts'
import { joinChunks } from '../../vfs/volume.ts'
import { chooseScale } from '../scale.ts'
import type { StoreSubject, StoreVolume } from '../volume.ts'

/** One database file. It syncs every commit: its own default, and its only one. */
class AgentFsVolume implements StoreVolume {
  readonly root = ''
  readonly #agent: AgentFS
  readonly #directory: string

  constructor(agent: AgentFS, directory: string) {
    this.#agent = agent
    this.#directory = directory
  }

  mkdir(path: string): Promise<void> {
    return this.#agent.fs.mkdir(path)
  }

  write(path: string, bytes: Uint8Array): Promise<void> {
    return this.#agent.fs.writeFile(path, asBuffer(bytes))
  }

  read(path: string): Promise<Uint8Array> {
    return this.#agent.fs.readFile(path)
  }

  stat(path: string): Promise<{ readonly size: number }> {
    return this.#agent.fs.stat(path)
  }

  // `readdir` gives names alone, and we ask everybody for types too.
  async countEntries(directory: string): Promise<number> {
    return (await this.#agent.fs.readdirPlus(directory)).length
  }

  // Its handles write block by block with a look-up for each, which takes twice as long as the joined whole.
  writeChunks(path: string, chunks: Iterable<Uint8Array>): Promise<void> {
    return this.write(path, joinChunks(chunks))
  }

  async readChunks(path: string, chunkSize: number): Promise<number> {
    const handle = await this.#agent.fs.open(path)
    for (let bytes = 0; ; ) {
      const { length } = await handle.pread(bytes, chunkSize)
      if (length === 0) return bytes
      bytes += length
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#agent.close()
    await rm(this.#directory, { recursive: true })
  }
}

export function agentFs(settings: Settings): StoreSubject {
  const { slowTextFiles, slowLargeFileBytes } = chooseScale(settings)
  let volumes = 0
  return {
    textFiles: slowTextFiles,
    largeFileBytes: slowLargeFileBytes,
    warmUpFiles: 100,
    async open() {
      const directory = `${settings.directory}/agentfs-${process.pid}-${++volumes}`
      await mkdir(directory)
      return new AgentFsVolume(await AgentFS.open({ path: `${directory}/agent.db` }), directory)
    },
  }
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}
