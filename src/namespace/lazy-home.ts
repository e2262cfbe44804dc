import { join } from 'node:path'
import type { HostFsOptions } from '../backends/host/index.ts'
import { Home, openHome } from '../backends/vault/index.ts'
import type { Config } from '../config/index.ts'

const LOCKS_DIRECTORY = 'locks'
const CLOSED_REASON = 'a home of Coppice is closed to agents; use vfs:/// paths for the files in its vaults'

/** A home that is opened on first use. One given as an object is open already, and stays open. */
export class LazyHome {
  /** The directory of the home; undefined if it is in memory. */
  readonly path: string | undefined
  /** This home and other directories that are closed to agents. */
  readonly closedDirectories: readonly string[]
  /** Key of what namespaces share: the same object for all namespaces of a home given as an object. */
  readonly identity: object
  readonly #open: () => Promise<Home>
  #opened: Promise<Home> | undefined

  /** @param closed more directories of this machine that are closed to agents. */
  constructor(home: Home | string, { engine, durability }: Config, closed: readonly string[] = []) {
    const path = home instanceof Home ? home.path : home
    this.identity = home instanceof Home ? home : this
    this.closedDirectories = path === undefined ? closed : [path, ...closed]
    if (home instanceof Home) {
      this.path = home.path
      this.#open = async () => home
      return
    }
    this.path = home
    const settings = {
      ...(engine !== undefined && { engine }),
      ...(durability !== undefined && { durability }),
    }
    this.#open = () => {
      this.#opened ??= openHome({ path: home, ...settings })
      return this.#opened
    }
  }

  /** Options to open a directory of this machine for agents, without access to any home. */
  get hostOptions(): HostFsOptions {
    return { ...this.ownOptions, closed: { directories: this.closedDirectories, reason: CLOSED_REASON } }
  }

  /** Options to open a directory of the home. Processes that use the home serialize their writes. */
  get ownOptions(): HostFsOptions {
    return this.path === undefined ? {} : { locks: join(this.path, LOCKS_DIRECTORY) }
  }

  /** Returns the home, opened by the first call. */
  open(): Promise<Home> {
    return this.#open()
  }

  /** Closes the home if it was opened here. */
  async close(): Promise<void> {
    const opened = this.#opened
    this.#opened = undefined
    await (await opened)?.close()
  }
}
