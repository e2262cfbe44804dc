import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { type Durability, MemoryEngine, SqliteEngine, StoreHome } from '../../store/index.ts'
import { Vault } from './vault.ts'

const STORE_FILE = 'store.db'

export interface HomeOptions {
  /** The directory of the home; made if it is missing. In memory when absent. */
  readonly path?: string
  readonly durability?: Durability
}

/** A home: vaults that share pages and blobs. Close it when done; what was acknowledged is kept either way. */
export class Home implements AsyncDisposable {
  readonly #store: StoreHome

  constructor(store: StoreHome) {
    this.#store = store
  }

  /** Makes an empty vault. EINVAL, EEXIST. */
  async createVault(name: string): Promise<Vault> {
    return new Vault(this.#store, name, this.#store.create(name))
  }

  /** An existing vault. ENOENT. */
  async vault(name: string): Promise<Vault> {
    return new Vault(this.#store, name, this.#store.vault(name))
  }

  /** A vault that starts as another is now. O(1). EINVAL, EEXIST, ENOENT. */
  async fork(source: string, name: string): Promise<Vault> {
    return new Vault(this.#store, name, this.#store.fork(source, name))
  }

  /** The names of all vaults, in order. */
  async vaults(): Promise<string[]> {
    return this.#store.names()
  }

  close(): Promise<void> {
    return this.#store.close()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}

export async function openHome({ path, durability = 'process' }: HomeOptions = {}): Promise<Home> {
  if (path === undefined) return new Home(new StoreHome(new MemoryEngine()))
  await mkdir(path, { recursive: true })
  return new Home(new StoreHome(new SqliteEngine({ file: join(path, STORE_FILE), durability })))
}
