import { existsSync, readdirSync, renameSync } from 'node:fs'
import { basename, join } from 'node:path'
import { createProcessTag, isStaleTag, makePrivateDirectory, parseProcessTag } from '../../machine/index.ts'
import { WORK_PREFIX } from '../isolation/index.ts'
import { getForkFilesDirectory } from '../link/index.ts'
import { removeTree } from '../session/index.ts'
import { listRecordedCopies } from './recorded-starts.ts'

/** The copies of one command. Disposing them removes those that no fork keeps. */
export interface OpenCopies extends AsyncDisposable {
  readonly path: string
  /** Keeps the copies with a fork, in place of earlier ones. Does nothing without one, or if a fork keeps them already. */
  keep(fork: string | undefined): void
  /** Removes what the kernel's overlays left beside the copies. No other command may use them meanwhile. */
  tidy(): Promise<void>
}

/** Files of the user's home as the commands of each fork have them, by the name of the fork. */
export class ForkCopies {
  readonly #home: string
  readonly #directory: string
  readonly #listVaults: () => Promise<readonly string[]>

  /**
   * @param home the directory of the home.
   * @param listVaults lists the forks, among other vaults.
   */
  constructor(home: string, listVaults: () => Promise<readonly string[]>) {
    this.#home = home
    this.#directory = getForkFilesDirectory(home)
    this.#listVaults = listVaults
  }

  /** Opens the copies of a fork, or new ones if there is none of the name. */
  async open(fork: string | undefined): Promise<OpenCopies> {
    makePrivateDirectory(this.#directory)
    const vaults = await this.sweep()
    const isKnown = fork !== undefined && vaults.includes(fork)
    const path = join(this.#directory, isKnown ? fork : createProcessTag())
    makePrivateDirectory(path)
    const replaced = join(this.#directory, createProcessTag())
    let current = path
    let isKept = isKnown
    return {
      path,
      keep: (kept) => {
        if (isKept || kept === undefined) return
        isKept = true
        const target = join(this.#directory, kept)
        // Each step of a removal would be a moment at which the fork has only a part of any copies.
        if (existsSync(target)) renameSync(target, replaced)
        renameSync(path, target)
        current = target
      },
      // An overlay leaves an empty directory that its owner may not read, so that `rm -rf` of the home would fail.
      tidy: () => removeWorkDirectories(current),
      [Symbol.asyncDispose]: async () => {
        if (isKept) await removeTree(replaced)
        // With a record, a later process stores the changes and keeps the copies with them.
        else if (!listRecordedCopies(this.#home).has(basename(path))) await removeTree(path)
      },
    }
  }

  /** Gives a fork the copies that a killed command left, unless it has some already, or they were removed. */
  adopt(name: string, fork: string): void {
    const [left, target] = [join(this.#directory, name), join(this.#directory, fork)]
    if (name !== fork && !existsSync(target) && existsSync(left)) renameSync(left, target)
  }

  /** Removes what the overlays of a killed command left beside the copies of a fork. */
  tidy(fork: string): Promise<void> {
    return removeWorkDirectories(join(this.#directory, fork))
  }

  /** Removes the copies of forks that are gone, and those of ended processes that no record names. Returns the vaults that there are. */
  async sweep(): Promise<readonly string[]> {
    // Listed first: a fork that another command makes meanwhile is then among the vaults.
    const names = existsSync(this.#directory) ? readdirSync(this.#directory) : []
    const recorded = names.length === 0 ? new Set() : listRecordedCopies(this.#home)
    const vaults = await this.#listVaults()
    for (const name of names) {
      const isGone = parseProcessTag(name) === undefined ? !vaults.includes(name) : isStaleTag(name)
      if (isGone && !recorded.has(name)) await removeTree(join(this.#directory, name))
    }
    return vaults
  }
}

async function removeWorkDirectories(copies: string): Promise<void> {
  for (const work of listWorkDirectories(copies)) await removeTree(work)
}

function listWorkDirectories(copies: string): string[] {
  if (!existsSync(copies)) return []
  // A fork has other files there, too.
  const directories = readdirSync(copies, { withFileTypes: true }).filter((entry) => entry.isDirectory())
  return directories.flatMap(({ name }) =>
    readdirSync(join(copies, name))
      .filter((entry) => entry.startsWith(WORK_PREFIX))
      .map((entry) => join(copies, name, entry)),
  )
}
