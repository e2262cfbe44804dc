import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import {
  type Durability,
  type Engine,
  type FsckReport,
  LmdbEngine,
  MemoryEngine,
  type OnConflict,
  SqliteEngine,
  StoreHome,
} from '../../store/index.ts'
import { Vault } from './vault.ts'

const STORE_FILE = 'store.db'
const LMDB_DIRECTORY = 'store.lmdb'

export interface HomeOptions {
  /** The directory of the home; made if it is missing. In memory when absent. */
  readonly path?: string
  /** What keeps its bytes. `sqlite` when absent; `lmdb` needs the package of that name. */
  readonly engine?: 'sqlite' | 'lmdb'
  readonly durability?: Durability
}

export interface MergeOptions {
  /** Refuse (`fail`, when absent), keep one side, or put both between markers in text files. */
  readonly onConflict?: OnConflict
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

  /**
   * Brings what a fork changed into the vault it grew from; returns how many changes. One commit, O(changes of both).
   * ECONFLICT with `conflicts` if both changed the same and `onConflict` is `fail`; then nothing has changed.
   */
  merge(source: string, target: string, { onConflict = 'fail' }: MergeOptions = {}): Promise<number> {
    return this.#store.merge(source, target, onConflict)
  }

  /** Verifies every page and blob a vault or checkpoint leads to, and names each that is damaged. */
  async fsck(): Promise<FsckReport> {
    return this.#store.fsck()
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

export async function openHome(options: HomeOptions = {}): Promise<Home> {
  return new Home(new StoreHome(await openEngine(options)))
}

async function openEngine({ path, engine = 'sqlite', durability = 'process' }: HomeOptions): Promise<Engine> {
  if (path === undefined) return new MemoryEngine()
  await mkdir(path, { recursive: true })
  if (engine === 'lmdb') return LmdbEngine.open({ directory: join(path, LMDB_DIRECTORY), durability })
  return new SqliteEngine({ file: join(path, STORE_FILE), durability })
}
