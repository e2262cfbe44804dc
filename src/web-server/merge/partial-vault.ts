import type { Home, Vault } from '../../backends/vault/index.ts'
import { applyHunk, listFileChanges, listHunks, readChangedText, splitLines } from '../../diff/index.ts'
import { type CallContext, type FileSystem, type PathChange, VfsError } from '../../vfs/index.ts'
import type { FileSelection } from '../../web-api/index.ts'
import { createForkName } from '../../workspace/index.ts'
import { digestTexts } from '../file-diff.ts'
import { ChangeCopier } from './change-copier.ts'
import { createMergeError } from './merge-request.ts'
import { createOutdatedError, selectHunks } from './selected-changes.ts'

/**
 * Runs work on a temporary vault that has some changes of a fork only. It begins where the fork did, so that it can be
 * merged like the fork itself. EINVAL for a vault that is no fork, ECONFLICT if a file is not the one that was shown.
 */
export async function withPartialVault<Result>(
  home: Home,
  source: string,
  selection: readonly FileSelection[],
  ctx: CallContext,
  work: (partial: string) => Promise<Result>,
): Promise<Result> {
  const { from } = await home.info(source)
  if (from === undefined) throw createMergeError(`'${source}' is not a fork; merge all of it`)
  const name = createForkName()
  const fork = await home.vault(source)
  const partial = await home.fork(from.vault, name, { baseOf: source })
  try {
    await copyChanges(fork, partial, selection, ctx)
    return await work(name)
  } finally {
    await home.deleteVault(name)
  }
}

async function copyChanges(
  fork: Vault,
  partial: Vault,
  selection: readonly FileSelection[],
  ctx: CallContext,
): Promise<void> {
  const trees = { before: await fork.openMoment('fork'), after: await fork.openMoment('now') }
  const changes = new Map<string, PathChange>()
  for await (const change of listFileChanges(fork.diff(), trees, ctx)) changes.set(change.path, change)
  const copier = new ChangeCopier(trees.after, partial, ctx)
  for (const { path, hunks, digest } of selection) {
    const change = changes.get(path)
    if (change === undefined)
      throw new VfsError('ENOENT', path, { op: 'merge', detail: `${path} has no change` })
    const text = hunks === undefined ? undefined : await pickText(change, trees, hunks, digest, ctx)
    await copier.copy(change, text)
  }
  await copier.finish()
}

async function pickText(
  change: PathChange,
  trees: { readonly before: FileSystem; readonly after: FileSystem },
  indexes: readonly number[],
  digest: string | undefined,
  ctx: CallContext,
): Promise<string> {
  const { isBinary, old, current } = await readChangedText(change, trees, ctx)
  if (isBinary) throw createMergeError(`${change.path} has no hunks; take the whole file`)
  if (digestTexts(old, current) !== digest) throw createOutdatedError(change.path)
  const lines = splitLines(old)
  const picked = selectHunks(listHunks(lines, splitLines(current)), indexes, change.path)
  return applyHunk(lines, picked.flat()).join('')
}
