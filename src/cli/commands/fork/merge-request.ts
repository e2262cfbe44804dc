import { isMirrorName } from '../../../backends/vault/index.ts'
import type { PendingMerge } from '../../../workspace/index.ts'
import type { OpenHome } from '../../access/home-access.ts'
import { findLinkedFork } from '../../access/linked-access.ts'
import { openPendingMerges } from '../../access/pending-merge.ts'
import { assertForkOrVault } from '../../access/running-command.ts'
import { CommandError } from '../../framework/errors.ts'

/**
 * Returns the merge of a fork into a vault, by default the one that it was made from, or into another fork of its
 * directory. It has the resolutions of the same merge, if that is pending. CommandError if another merge into the
 * target is pending, if there is no target, or if the two belong to different directories.
 */
export async function createMergeRequest(
  open: OpenHome,
  fork: string,
  into: string | undefined,
): Promise<PendingMerge> {
  await assertForkOrVault(open, fork)
  if (into !== undefined) await assertForkOrVault(open, into)
  const target = into ?? (await findOrigin(open, fork))
  const linked = await findDirectory(open, fork, target)
  const pending = openPendingMerges(open).find(target)
  const isSame = pending !== undefined && pending.sources.length === 1 && pending.sources[0] === fork
  if (pending !== undefined && !isSame) {
    const finish = 'coppice merge --continue, or give it up with coppice merge --abort'
    throw new CommandError(
      `the merge of ${pending.sources[0]} into ${target} waits; finish it with ${finish}`,
    )
  }
  return {
    ...(linked === undefined ? { kind: 'vault' } : { kind: 'fork', directory: linked }),
    sources: [fork],
    target,
    resolutions: pending?.resolutions ?? new Map(),
  }
}

async function findOrigin({ home }: OpenHome, fork: string): Promise<string> {
  const { from } = await home.info(fork)
  if (from !== undefined) return from.vault
  throw new CommandError(`'${fork}' is not a fork; name what to merge it into, or see coppice vault list`)
}

/** Returns the directory of two forks; undefined for vaults. CommandError for a fork of another directory. */
async function findDirectory({ home }: OpenHome, fork: string, into: string): Promise<string | undefined> {
  const [source, target] = [await findLinkedFork(home, fork), await findLinkedFork(home, into)]
  if (source === undefined || target === undefined) {
    if (!(await isLinked(home, fork)) && !(await isLinked(home, into))) return undefined
    // The home refuses to merge a fork into what mirrors its directory.
    if (isMirrorName(into)) return undefined
    const strangers = [source === undefined ? fork : [], target === undefined ? into : []].flat()
    const problem = strangers.length === 1 ? 'is not a fork' : 'are not forks'
    throw new CommandError(`${strangers.join(' and ')} ${problem} of this directory; see coppice forks`)
  }
  if (source.link.path !== target.link.path)
    throw new CommandError(`${fork} and ${into} are forks of different directories`)
  return source.link.path
}

/** True for a fork of any directory. */
async function isLinked(home: OpenHome['home'], name: string): Promise<boolean> {
  const { from } = await home.info(name)
  return from !== undefined && isMirrorName(from.vault)
}
