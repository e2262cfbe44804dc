import { type PendingMerge, PendingMerges } from '../../workspace/index.ts'
import { CommandError } from '../framework/errors.ts'
import type { OpenHome } from './home-access.ts'
import { listEnclosingDirectories } from './linked-access.ts'

/** Opens the pending merges of a command's home. */
export function openPendingMerges({ path }: Pick<OpenHome, 'path'>): PendingMerges {
  return new PendingMerges(path)
}

/** Names a pending merge: by its target, or by the command that began it. */
export interface MergeChoice {
  readonly target?: string | undefined
  /** The command that goes on with it. Merges that it began come first. */
  readonly command?: 'merge' | 'apply'
}

/** Returns the pending merge as `findPendingMerge` does. CommandError if there is none. */
export async function requirePendingMerge(open: OpenHome, choice: MergeChoice): Promise<PendingMerge> {
  const found = await findPendingMerge(open, choice)
  if (found !== undefined) return found
  const into = choice.target === undefined ? '' : ` into ${choice.target}`
  throw new CommandError(`no merge${into} waits for its conflicts to be resolved`)
}

/**
 * Returns the pending merge into a vault, fork or directory; without a name the only one that concerns the working
 * directory. CommandError if there are several.
 */
export async function findPendingMerge(
  open: OpenHome,
  { target, command }: MergeChoice,
): Promise<PendingMerge | undefined> {
  const pending = await listPendingMerges(open)
  const named = target === undefined ? pending : pending.filter((each) => each.target === target)
  const begun = named.filter(
    ({ kind }) => command === undefined || (kind === 'apply') === (command === 'apply'),
  )
  const [first, ...others] = begun.length > 0 ? begun : named
  if (first === undefined || others.length === 0) return first
  const option = command === undefined ? '--into ' : `coppice merge --continue `
  const targets = [first, ...others].map((each) => option + each.target)
  throw new CommandError(`several merges wait; name one with ${targets.join(' or ')}`)
}

/** Lists the pending merges of vaults, and those of directories around the working directory. Ends those of dropped forks. */
async function listPendingMerges(open: OpenHome): Promise<PendingMerge[]> {
  const merges = openPendingMerges(open)
  const directories = listEnclosingDirectories()
  const names = new Set(await open.home.vaults())
  const found: PendingMerge[] = []
  for (const merge of merges.list()) {
    const { kind, sources, target, directory } = merge
    const vaults = kind === 'apply' ? sources : [...sources, target]
    if (!vaults.every((name) => names.has(name))) await merges.end(target)
    else if (directory === undefined || directories.includes(directory)) found.push(merge)
  }
  return found
}

/** Names both sides of a merge, as in `task-1 into base`. */
export function describeMerge({ kind, sources, target }: PendingMerge): string {
  return `${sources.join(' and ')} into ${kind === 'apply' ? 'this directory' : target}`
}

/** Names our side of a merge. */
export function nameOurs({ kind, target }: PendingMerge): string {
  return kind === 'apply' ? 'this directory' : target
}

/** Returns the command with which a merge goes on. */
export function getFinishingCommand({ kind }: PendingMerge, step: 'continue' | 'abort'): string {
  return `coppice ${kind === 'apply' ? 'apply' : 'merge'} --${step}`
}
