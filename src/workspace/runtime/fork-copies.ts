import { existsSync, readdirSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { createProcessTag, isStaleTag, makePrivateDirectory, parseProcessTag } from '../../machine/index.ts'
import { WORK_PREFIX } from '../isolation/index.ts'
import { removeTree } from '../session/index.ts'

/** The copies of one command. Disposing them removes those that no fork keeps. */
export interface OpenCopies extends AsyncDisposable {
  readonly path: string
  /** Keeps the copies with a fork, in place of earlier ones. Does nothing for null, or if a fork keeps them already. */
  keep(fork: string | null): Promise<void>
  /** Removes what the kernel's overlays left beside the copies. No other command may use them meanwhile. */
  tidy(): Promise<void>
}

/** Files of the user's home as the commands of each fork have them, by the name of the fork. */
export class ForkCopies {
  readonly #directory: string
  readonly #listVaults: () => Promise<readonly string[]>

  /** @param listVaults lists the forks, among other vaults. */
  constructor(directory: string, listVaults: () => Promise<readonly string[]>) {
    this.#directory = directory
    this.#listVaults = listVaults
  }

  /** Opens the copies of a fork, or new ones if there is none of the name. */
  async open(fork: string | undefined): Promise<OpenCopies> {
    makePrivateDirectory(this.#directory)
    const vaults = await this.sweep()
    const isKnown = fork !== undefined && vaults.includes(fork)
    const path = join(this.#directory, isKnown ? fork : createProcessTag())
    makePrivateDirectory(path)
    let current = path
    let isKept = isKnown
    return {
      path,
      keep: async (kept) => {
        if (isKept || kept === null) return
        isKept = true
        const target = join(this.#directory, kept)
        await removeTree(target)
        renameSync(path, target)
        current = target
      },
      // An overlay leaves an empty directory that its owner may not read, so that `rm -rf` of the home would fail.
      tidy: async () => {
        for (const work of listWorkDirectories(current)) await removeTree(work)
      },
      [Symbol.asyncDispose]: async () => {
        if (!isKept) await removeTree(path)
      },
    }
  }

  /** Gives a fork the copies that a killed command left, unless it has some already, or they were removed. */
  async adopt(name: string, fork: string): Promise<void> {
    const [left, target] = [join(this.#directory, name), join(this.#directory, fork)]
    if (name === fork || existsSync(target) || !existsSync(left)) return
    renameSync(left, target)
    for (const work of listWorkDirectories(target)) await removeTree(work)
  }

  /** Removes the copies of forks that are gone, and those of ended processes. Returns the vaults that there are. */
  async sweep(): Promise<readonly string[]> {
    // Listed first: a fork that another command makes meanwhile is then among the vaults.
    const names = existsSync(this.#directory) ? readdirSync(this.#directory) : []
    const vaults = await this.#listVaults()
    for (const name of names) {
      const isGone = parseProcessTag(name) === undefined ? !vaults.includes(name) : isStaleTag(name)
      if (isGone) await removeTree(join(this.#directory, name))
    }
    return vaults
  }
}

function listWorkDirectories(copies: string): string[] {
  if (!existsSync(copies)) return []
  return readdirSync(copies).flatMap((name) =>
    readdirSync(join(copies, name))
      .filter((entry) => entry.startsWith(WORK_PREFIX))
      .map((entry) => join(copies, name, entry)),
  )
}
