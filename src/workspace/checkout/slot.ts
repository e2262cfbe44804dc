import { randomBytes } from 'node:crypto'
import { readdir, readFile, rename, stat, unlink, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createProcessTag, isStaleTag, makePrivateDirectory, makePrivateFile } from '../../machine/index.ts'
import { removeTree } from '../session/index.ts'

/** Content of a finished checkout. */
export interface SlotState {
  /** A vault that is never changed: the files as they are in the checkout. */
  readonly vault: string
  /** The vault that all that were checked out here grew from. */
  readonly origin: string
  readonly bytes: number
  /** Which start of the machine it was finished in. */
  readonly boot: string
}

/** The file that says what is in a slot and whose that is: its name is the lock, and a rename takes it. */
const FREE = 'free'
const HELD = 'held-'
const WORK = 'work-'
const NEW = 'new-'

/**
 * A place for one checkout. Its one token is named `free`, `held-<owner>` while its files are used, or `work-<owner>`
 * while they change. Only one can rename a file, so two never hold it; what a dead process held is anybody's.
 */
export class Slot {
  readonly id: string
  readonly tree: string
  readonly #directory: string
  /** The token, if this is its holder. */
  #token = ''

  constructor(checkouts: string, id: string) {
    this.id = id
    this.#directory = join(checkouts, id)
    this.tree = join(this.#directory, 'tree')
  }

  /** A new slot, held, with nothing in it. */
  static async create(checkouts: string): Promise<Slot> {
    const owner = createProcessTag()
    const made = join(checkouts, NEW + owner)
    makePrivateDirectory(made)
    makePrivateFile(join(made, WORK + owner))
    const slot = new Slot(checkouts, randomBytes(6).toString('hex'))
    await rename(made, join(checkouts, slot.id))
    slot.#token = WORK + owner
    return slot
  }

  /** All slots there are; removes what a dead process began to make. */
  static async list(checkouts: string): Promise<Slot[]> {
    const names = await readdir(checkouts).catch(() => [])
    const [begun, made] = [names.filter((name) => name.startsWith(NEW)), names.filter(isId)]
    for (const name of begun) {
      if (isStaleTag(name.slice(NEW.length))) await removeTree(join(checkouts, name))
    }
    return made.map((id) => new Slot(checkouts, id))
  }

  /** When it was last used, and what it holds; undefined if it is somebody's, or was not finished. */
  async inspect(): Promise<{ readonly used: number; readonly state: SlotState } | undefined> {
    try {
      const token = await this.#freeToken()
      if (token === undefined || token.startsWith(WORK)) return undefined
      const path = join(this.#directory, token)
      const state: SlotState = JSON.parse(await readFile(path, 'utf8'))
      return { used: (await stat(path)).mtimeMs, state }
    } catch {
      // Taken or removed this moment.
      return undefined
    }
  }

  /** True if a dead process did not finish it. */
  async isAbandoned(): Promise<boolean> {
    const token = await this.#freeToken().catch(() => undefined)
    return token?.startsWith(WORK) === true
  }

  /** Takes it; false if somebody has it. */
  async claim(): Promise<boolean> {
    try {
      const token = await this.#freeToken()
      if (token === undefined) return false
      const mine = (token.startsWith(WORK) ? WORK : HELD) + createProcessTag()
      await rename(join(this.#directory, token), join(this.#directory, mine))
      this.#token = mine
      for (const other of await this.#tokens()) {
        if (other !== mine) await unlink(join(this.#directory, other))
      }
      return true
    } catch {
      return false
    }
  }

  /** Returns its content, if finished. For the holder. */
  async state(): Promise<SlotState | undefined> {
    if (this.#token.startsWith(WORK)) return undefined
    return JSON.parse(await readFile(join(this.#directory, this.#token), 'utf8'))
  }

  /** From here on it holds nothing that anybody could use. Of the holder. */
  async markIncomplete(): Promise<void> {
    if (this.#token.startsWith(WORK)) return
    await this.#rename(this.#token.replace(HELD, WORK))
  }

  /** It holds this now. Of the holder. */
  async finish(state: SlotState): Promise<void> {
    const [work, held] = [this.#token, this.#token.replace(WORK, HELD)]
    makePrivateFile(join(this.#directory, held))
    await writeFile(join(this.#directory, held), JSON.stringify(state))
    // With both, it counts as not finished.
    await unlink(join(this.#directory, work))
    this.#token = held
  }

  /** Gives it back for others to use. */
  async release(): Promise<void> {
    const now = new Date()
    await utimes(join(this.#directory, this.#token), now, now)
    await this.#rename(FREE)
  }

  /** Removes it. Of the holder. */
  async remove(): Promise<void> {
    await this.markIncomplete()
    await removeTree(this.tree)
    await removeTree(this.#directory)
  }

  async #rename(token: string): Promise<void> {
    await rename(join(this.#directory, this.#token), join(this.#directory, token))
    this.#token = token
  }

  /** The token that can be taken: an unfinished one first, whatever else there is. */
  async #freeToken(): Promise<string | undefined> {
    const [token] = await this.#tokens()
    if (token === undefined || token === FREE) return token
    return isStaleTag(token.slice(HELD.length)) ? token : undefined
  }

  async #tokens(): Promise<string[]> {
    return (await readdir(this.#directory))
      .filter((name) => name !== 'tree')
      .sort()
      .reverse()
  }
}

function isId(name: string): boolean {
  return /^[0-9a-f]{12}$/.test(name)
}
