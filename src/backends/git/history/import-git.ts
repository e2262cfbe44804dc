import { VfsError } from '../../../vfs/index.ts'
import type { CheckpointInfo, HistoryOptions, Home } from '../../vault/index.ts'
import type { ObjectReader } from '../object-reader.ts'
import { openRepository, type RepositoryOptions, readCommit } from '../open-git.ts'
import { parseCommitNotes } from './commit-notes.ts'
import { listCommitsTo } from './commit-order.ts'
import { type KnownCommit, TRACE_PREFIX, toHistorySteps } from './commit-steps.ts'

/** Options of `importGit`. */
export interface GitImportOptions extends HistoryOptions, Omit<RepositoryOptions, 'signal'> {
  /** A branch, a tag or an id. `HEAD` when absent. */
  readonly ref?: string
}

/** Result of `importGit`. */
export interface GitImportReport {
  /** The commit the vault is at. */
  readonly commit: string
  /** The checkpoint of that commit. */
  readonly checkpoint: string
  /** Number of imported commits. */
  readonly commits: number
  /** Number of commits that the vault already had. */
  readonly known: number
}

/**
 * Imports the history of a commit into a vault that is empty or has an earlier part of it. Each commit becomes a
 * checkpoint with its message, author and times, parents first. A second run imports what is new.
 * Submodules become empty directories. ENOENT, EINVAL for names that no path can have, ECONFLICT if the vault was changed or
 * the repository lacks the last imported commit.
 */
export async function importGit(
  home: Home,
  vault: string,
  repository: string,
  options: GitImportOptions = {},
): Promise<GitImportReport> {
  await using reader = await openRepository(repository, options)
  const tip = await reader.resolve(options.ref ?? 'HEAD')
  const checkpoints = await (await home.vault(vault)).checkpoints()
  const known = findKnownCommits(checkpoints)
  const last = [...known].at(-1)
  if (last !== undefined) await assertKnownCommit(reader, last[0])
  const ids = await listCommitsTo(reader, tip, new Set(known.keys()), options.signal)
  const before = known.size
  const taken = new Set(checkpoints.map(({ name }) => name))
  const { onProgress } = options
  const commits = await home.importHistory(
    vault,
    {
      after: last?.[1].checkpoint,
      tracePrefix: TRACE_PREFIX,
      steps: toHistorySteps(reader, ids, known, taken),
    },
    {
      ...options,
      ...(onProgress && { onProgress: (progress) => onProgress({ ...progress, total: ids.length }) }),
    },
  )
  return { commit: tip, checkpoint: known.get(tip)?.checkpoint ?? '', commits, known: before }
}

/** Finds the commits that checkpoints of a vault came from, oldest first. */
function findKnownCommits(checkpoints: readonly CheckpointInfo[]): Map<string, KnownCommit> {
  const known = new Map<string, KnownCommit>()
  for (const checkpoint of checkpoints) {
    const notes = parseCommitNotes(checkpoint)
    if (notes !== undefined)
      known.set(notes.commit, { checkpoint: checkpoint.name, submodules: notes.submodules })
  }
  return known
}

/** Throws ECONFLICT if the repository does not contain the commit the vault is at. */
async function assertKnownCommit(reader: ObjectReader, id: string): Promise<void> {
  try {
    await readCommit(reader, id)
  } catch (cause) {
    const detail = `the last imported commit ${id.slice(0, 12)} is not in this repository; import into a new vault`
    throw new VfsError('ECONFLICT', '/', { op: 'import', detail, cause })
  }
}
