import { join } from 'node:path'
import type { HostFsOptions } from '../../backends/host/index.ts'
import { Home, openHome } from '../../backends/vault/index.ts'
import type { Config } from '../config/index.ts'

const LOCKS_DIRECTORY = 'locks'

/** A home that is opened when something needs it, and closed here only if it was opened here. */
export class HomeDoor {
  /** The directory of the home; undefined if it is in memory. */
  readonly path: string | undefined
  readonly #open: () => Promise<Home>
  #opened: Promise<Home> | undefined

  constructor(home: Home | string, { engine, durability }: Config) {
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

  /** How directories of this machine are opened: whoever works on this home waits for each other's writes. */
  get hostOptions(): HostFsOptions {
    return this.path === undefined ? {} : { locks: join(this.path, LOCKS_DIRECTORY) }
  }

  home(): Promise<Home> {
    return this.#open()
  }

  async close(): Promise<void> {
    const opened = this.#opened
    this.#opened = undefined
    await (await opened)?.close()
  }
}
