import { rm } from 'node:fs/promises'
import type { Home, Vault } from '../../../src/backends/vault/index.ts'
import { list, readFile } from '../../../src/vfs/index.ts'
import type { Settings } from '../../harness/benchmark.ts'
import { chooseScale, type Scale } from '../scale.ts'
import type { StoreSubject, StoreVolume } from '../volume.ts'
import { type Durability, openBenchHome } from './homes.ts'

/** One vault in a home of its own. */
class VaultVolume implements StoreVolume {
  readonly root = ''
  readonly #home: Home
  readonly #vault: Vault
  readonly #directory: string

  constructor(home: Home, vault: Vault, directory: string) {
    this.#home = home
    this.#vault = vault
    this.#directory = directory
  }

  mkdir(path: string): Promise<void> {
    return this.#vault.mkdir(path, { parents: true })
  }

  write(path: string, bytes: Uint8Array): Promise<void> {
    return this.#vault.write(path, bytes)
  }

  read(path: string): Promise<Uint8Array> {
    return readFile(this.#vault, path)
  }

  stat(path: string): Promise<{ readonly size: number }> {
    return this.#vault.stat(path)
  }

  async countEntries(directory: string): Promise<number> {
    return (await list(this.#vault, directory)).length
  }

  writeChunks(path: string, chunks: Iterable<Uint8Array>): Promise<void> {
    return this.#vault.write(path, toStream(chunks))
  }

  async readChunks(path: string, chunkSize: number): Promise<number> {
    let bytes = 0
    for await (const chunk of this.#vault.read(path, { chunkSize })) bytes += chunk.length
    return bytes
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#home.close()
    await rm(this.#directory, { recursive: true })
  }
}

/**
 * Creates the subject of vaults with a durability. Synced ones get fewer files, since every write waits for the disk.
 */
export function vaults(settings: Settings, durability: Durability): StoreSubject {
  let volumes = 0
  return {
    ...chooseSizes(chooseScale(settings), durability),
    async open() {
      const directory = `${settings.directory}/home-${process.pid}-${++volumes}`
      const home = await openBenchHome(settings, directory, durability)
      return new VaultVolume(home, await home.createVault('vault'), directory)
    },
  }
}

function chooseSizes({ textFiles, slowTextFiles, largeFileBytes }: Scale, durability: Durability) {
  const isSynced = durability === 'full'
  return {
    textFiles: isSynced ? slowTextFiles : textFiles,
    warmUpFiles: isSynced ? 100 : 1000,
    largeFileBytes,
  }
}

async function* toStream(chunks: Iterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield* chunks
}
