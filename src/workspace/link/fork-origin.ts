import { compareTrees, createChangeWork } from './compare-trees.ts'
import { createForkName } from './fork-point.ts'
import type { LinkedFork, LinkHome } from './link-home.ts'
import { readRecord } from './link-record.ts'
import type { TreeFiles } from './tree.ts'
import { performWork } from './tree-work.ts'

/** Checkpoint in the vaults of a copied fork: the state in which it was copied. */
export const START_CHECKPOINT = 'start'

type ForkVaults = Pick<LinkedFork, 'name' | 'mirror'>

/** Creates forks of vaults, and deletes them when it is disposed. */
export class TemporaryForks implements AsyncDisposable {
  readonly #home: LinkHome
  readonly #names: string[] = []

  constructor(home: LinkHome) {
    this.#home = home
  }

  /** Forks a vault as it is, or as it was at a checkpoint, and returns the name. */
  async create(source: string, checkpoint?: string): Promise<string> {
    const name = createForkName()
    await this.#home.fork(source, name, checkpoint === undefined ? {} : { at: checkpoint })
    this.#names.push(name)
    return name
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const name of this.#names) await this.#home.deleteVault(name)
  }
}

/**
 * Returns the common ancestor for a merge of a fork into the one of which it is a copy: that fork as it was copied and,
 * at paths that the copy touched since, the directory as it was then. Undefined if the source is no copy of the target.
 */
export async function openOrigin(
  home: LinkHome,
  source: ForkVaults,
  target: ForkVaults,
  temporary: TemporaryForks,
): Promise<TreeFiles | undefined> {
  const { origin } = readRecord(await home.posix(source.mirror)) ?? {}
  if (origin !== target.mirror) return undefined
  const copiedMirror = await temporary.create(source.mirror, START_CHECKPOINT)
  const copiedFork = await temporary.create(source.name, START_CHECKPOINT)
  const copiedChanges = compareTrees(await home.posix(copiedMirror), await home.posix(copiedFork))
  const ancestor = await home.posix(await temporary.create(source.mirror))
  await performWork(ancestor, copiedChanges.map(createChangeWork))
  return ancestor
}
