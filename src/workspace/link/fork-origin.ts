import { compareTrees, createChangeWork } from './compare-trees.ts'
import { createForkName } from './fork-point.ts'
import type { LinkedFork, LinkHome } from './link-home.ts'
import { readRecord } from './link-record.ts'
import type { TreeFiles } from './tree.ts'
import { performWork } from './tree-work.ts'

/** Name of the checkpoint with which a copy of a fork begins. */
export const START_CHECKPOINT = 'start'

type ForkVaults = Pick<LinkedFork, 'name' | 'mirror'>

/** Vaults that exist until this is disposed. */
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
 * Returns the base for a merge of a fork into another one that it is a copy of: the other one as it was then, and the
 * directory at paths that were touched since. Undefined if it is no copy of it.
 */
export async function openOrigin(
  home: LinkHome,
  source: ForkVaults,
  target: ForkVaults,
  temporary: TemporaryForks,
): Promise<TreeFiles | undefined> {
  const { origin } = readRecord(await home.posix(source.mirror)) ?? {}
  if (origin !== target.mirror) return undefined
  const before = await temporary.create(source.mirror, START_CHECKPOINT)
  const after = await temporary.create(source.name, START_CHECKPOINT)
  const base = await home.posix(await temporary.create(source.mirror))
  const changes = compareTrees(await home.posix(before), await home.posix(after))
  await performWork(base, changes.map(createChangeWork))
  return base
}
