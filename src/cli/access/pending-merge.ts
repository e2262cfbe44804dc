import { type PendingMerge, PendingMerges } from '../../workspace/index.ts'
import { CommandError } from '../framework/errors.ts'
import type { OpenHome } from './home-access.ts'
import { listEnclosingDirectories } from './linked-access.ts'

/** Opens the pending merges of a command's home. */
export function openPendingMerges({ path }: Pick<OpenHome, 'path'>): PendingMerges {
  return new PendingMerges(path)
}

/** Criteria for a pending merge. */
export interface MergeChoice {
  /** The vault, fork or directory that is merged into. */
  readonly target?: string | undefined
  /** The command that the user runs. Merges that this command began come first. */
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
  const ofCommand = named.filter(
    ({ kind }) => command === undefined || (kind === 'apply') === (command === 'apply'),
  )
  const [first, ...others] = ofCommand.length > 0 ? ofCommand : named
  if (first === undefined || others.length === 0) return first
  const targets = [first, ...others].map((each) => each.target)
  throw new CommandError(
    command === undefined
      ? `several merges wait; name one with ${targets.map((name) => `--into ${name}`).join(' or ')}`
      : `several merges wait, into ${targets.join(' and ')}; name one with: coppice merge --continue <name>, or --abort <name>`,
  )
}

/**
 * Lists the pending merges of vaults, and those of directories around the working directory. Ends those of dropped
 * forks.
 */
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

/** True if several merges wait, so that a command has to name one. */
export async function areSeveralPending(open: OpenHome): Promise<boolean> {
  return (await listPendingMerges(open)).length > 1
}

/** Formats both sides of a merge, as in `task-1 into base`. */
export function describeMerge({ kind, sources, target }: PendingMerge): string {
  return `${sources.join(' and ')} into ${kind === 'apply' ? 'this directory' : target}`
}

/** Returns the name of the side that is merged into. */
export function nameOurs({ kind, target }: PendingMerge): string {
  return kind === 'apply' ? 'this directory' : target
}

/** Returns the command that finishes a merge or gives it up. */
export function getFinishingCommand({ kind }: PendingMerge, step: 'continue' | 'abort'): string {
  return `coppice ${kind === 'apply' ? 'apply' : 'merge'} --${step}`
}
