import { randomBytes } from 'node:crypto'
import { readdir, readFile, rename, stat, unlink, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createProcessTag, isStaleTag, makePrivateDirectory, makePrivateFile } from '../../machine/index.ts'
import { removeTree } from '../session/index.ts'

/** Content of a complete checkout. */
export interface SlotState {
  /** A vault that never changes, with the files of the checkout. */
  readonly vault: string
  /** The common ancestor of all vaults checked out here. */
  readonly origin: string
  readonly bytes: number
  /** Id of the machine's boot during which it was completed. */
  readonly boot: string
}

/**
 * Names of the token of a slot, the last two with the owner. The token file holds the slot's state. Its name is the
 * lock, and renaming it takes the lock. `HELD` and `WORK` have the same length.
 */
const FREE = 'free'
const HELD = 'held-'
const WORK = 'work-'
/** Beginning of the name of a slot's directory while it is created. */
const NEW = 'new-'

/**
 * A directory for one checkout. Its token is named `free`, `held-<owner>` while its files are used, or `work-<owner>`
 * while they change. Only one process succeeds in renaming a file, so two never hold a slot. Any process may take the
 * slot of a dead one.
 */
export class Slot {
  readonly id: string
  readonly tree: string
  readonly #directory: string
  /** Name of the token while this object holds the slot. */
  #token = ''

  constructor(checkouts: string, id: string) {
    this.id = id
    this.#directory = join(checkouts, id)
    this.tree = join(this.#directory, 'tree')
  }

  /** Creates an empty slot and holds it. */
  static async create(checkouts: string): Promise<Slot> {
    const owner = createProcessTag()
    const newDirectory = join(checkouts, NEW + owner)
    makePrivateDirectory(newDirectory)
    makePrivateFile(join(newDirectory, WORK + owner))
    const slot = new Slot(checkouts, randomBytes(6).toString('hex'))
    await rename(newDirectory, join(checkouts, slot.id))
    slot.#token = WORK + owner
    return slot
  }

  /** Lists all slots. Removes slots that a dead process began to create. */
  static async list(checkouts: string): Promise<Slot[]> {
    const names = await readdir(checkouts).catch(() => [])
    for (const name of names) {
      if (name.startsWith(NEW) && isStaleTag(name.slice(NEW.length))) await removeTree(join(checkouts, name))
    }
    return names.filter(isId).map((id) => new Slot(checkouts, id))
  }

  /** Returns the time of last use and the state; undefined if the slot is held or incomplete. */
  async inspect(): Promise<{ readonly usedMs: number; readonly state: SlotState } | undefined> {
    try {
      const token = await this.#findFreeToken()
      if (token === undefined || token.startsWith(WORK)) return undefined
      const path = join(this.#directory, token)
      const state: SlotState = JSON.parse(await readFile(path, 'utf8'))
      return { usedMs: (await stat(path)).mtimeMs, state }
    } catch {
      // Another process took or removed it just now.
      return undefined
    }
  }

  /** True if a dead process left it incomplete. */
  async isAbandoned(): Promise<boolean> {
    const token = await this.#findFreeToken().catch(() => undefined)
    return token?.startsWith(WORK) === true
  }

  /** Takes the slot; false if another process holds it or was faster. */
  async claim(): Promise<boolean> {
    try {
      const token = await this.#findFreeToken()
      if (token === undefined) return false
      const mine = (token.startsWith(WORK) ? WORK : HELD) + createProcessTag()
      await rename(join(this.#directory, token), join(this.#directory, mine))
      this.#token = mine
      // A holder that was killed may have left a second one.
      for (const other of await this.#listTokens()) {
        if (other !== mine) await unlink(join(this.#directory, other))
      }
      return true
    } catch {
      return false
    }
  }

  /** Returns the state of a complete checkout; undefined if it is incomplete. Only for the holder. */
  async readState(): Promise<SlotState | undefined> {
    if (this.#token.startsWith(WORK)) return undefined
    return JSON.parse(await readFile(join(this.#directory, this.#token), 'utf8'))
  }

  /** Marks the content as unusable. Only for the holder. */
  async markIncomplete(): Promise<void> {
    if (this.#token.startsWith(WORK)) return
    await this.#rename(this.#token.replace(HELD, WORK))
  }

  /** Records the content as complete. Only for the holder. */
  async finish(state: SlotState): Promise<void> {
    const [work, held] = [this.#token, this.#token.replace(WORK, HELD)]
    makePrivateFile(join(this.#directory, held))
    await writeFile(join(this.#directory, held), JSON.stringify(state))
    // As long as it has both tokens, the slot counts as incomplete.
    await unlink(join(this.#directory, work))
    this.#token = held
  }

  /** Frees the slot for others. */
  async release(): Promise<void> {
    const now = new Date()
    await utimes(join(this.#directory, this.#token), now, now)
    await this.#rename(FREE)
  }

  /** Removes the slot. Only for the holder. */
  async remove(): Promise<void> {
    await this.markIncomplete()
    await removeTree(this.tree)
    await removeTree(this.#directory)
  }

  async #rename(token: string): Promise<void> {
    await rename(join(this.#directory, this.#token), join(this.#directory, token))
    this.#token = token
  }

  /** Returns the token if it can be taken: it is free, or its owner is dead. Of two, that of an incomplete slot counts. */
  async #findFreeToken(): Promise<string | undefined> {
    const [token] = await this.#listTokens()
    if (token === undefined || token === FREE) return token
    return isStaleTag(token.slice(HELD.length)) ? token : undefined
  }

  /** Lists the tokens, `work-` first. A process that was killed may leave two. */
  async #listTokens(): Promise<string[]> {
    return (await readdir(this.#directory))
      .filter((name) => name !== 'tree')
      .sort()
      .reverse()
  }
}

function isId(name: string): boolean {
  return /^[0-9a-f]{12}$/.test(name)
}
