import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type Durability, StoreHome } from '../../../store/index.ts'
import { Home } from '../home.ts'
import { getStoreFile } from '../home-engine.ts'
import { type HomeLocation, openEngine } from '../open-engine.ts'

const DIRECTORY = 'machine'

/** A home and its store. */
export interface OpenStore {
  readonly home: Home
  readonly store: StoreHome
}

/** The home in a directory that this machine has beside a home in a database, opened on first use. */
export class MachineHome {
  readonly location: HomeLocation
  #opened: Promise<OpenStore> | undefined

  /** @param path the directory of this machine's part of the home in the database. */
  constructor(path: string, durability?: Durability) {
    this.location = {
      path: join(path, DIRECTORY),
      engine: 'sqlite',
      ...(durability !== undefined && { durability }),
    }
  }

  /** Opens it, and creates it if it is missing. */
  open(): Promise<OpenStore> {
    this.#opened ??= this.#open()
    return this.#opened
  }

  /** Returns the home if it has a vault of this name. Creates nothing. */
  async findWith(vault: string): Promise<Home | undefined> {
    if (!this.exists) return undefined
    const { home } = await this.open()
    return (await home.hasVault(vault)) ? home : undefined
  }

  /** True if anything was ever stored in it. */
  get exists(): boolean {
    return this.#opened !== undefined || existsSync(getStoreFile(this.location.path, 'sqlite'))
  }

  async close(): Promise<void> {
    await (await this.#opened)?.home.close()
  }

  async #open(): Promise<OpenStore> {
    const { engine, location, mended } = await openEngine(this.location)
    const store = new StoreHome(engine)
    return { store, home: new Home(store, this.location.path, location, mended) }
  }
}
