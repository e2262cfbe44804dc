import type { CheckpointInfo } from '../../vault/index.ts'
import type { Commit } from '../commit-object.ts'

/** Commit of each submodule of a tree, by path. */
export type Submodules = ReadonlyMap<string, string>

/** The metadata of a checkpoint that came from a commit. */
export interface CommitNotes {
  readonly commit: string
  readonly parents: readonly string[]
  readonly author: string
  readonly committer: string
  readonly message: string
  readonly submodules: Submodules
}

/** Converts a commit and its submodules to the metadata of a checkpoint. */
export function toCheckpointMeta(commit: Commit, submodules: Submodules): Record<string, string> {
  return {
    'git.commit': commit.id,
    'git.parents': commit.parents.join(' '),
    'git.author': commit.author,
    'git.committer': commit.committer,
    'git.message': commit.message,
    ...(submodules.size > 0 && { 'git.submodules': JSON.stringify([...submodules]) }),
  }
}

/** Reads the commit that a checkpoint came from; undefined for any other checkpoint. */
export function parseCommitNotes({ meta = {} }: Pick<CheckpointInfo, 'meta'>): CommitNotes | undefined {
  const { 'git.commit': commit, 'git.author': author, 'git.committer': committer } = meta
  if (commit === undefined || author === undefined || committer === undefined) return undefined
  return {
    commit,
    parents: (meta['git.parents'] ?? '').split(' ').filter((id) => id !== ''),
    author,
    committer,
    message: meta['git.message'] ?? '',
    submodules: parseSubmodules(meta['git.submodules']),
  }
}

function parseList(text: string): unknown[] {
  try {
    const list: unknown = JSON.parse(text)
    return Array.isArray(list) ? list : []
  } catch {
    return []
  }
}

/** Parses submodules with care: any program may have written the metadata. */
function parseSubmodules(text = '[]'): Submodules {
  const found = new Map<string, string>()
  for (const pair of parseList(text)) {
    const [path, id]: unknown[] = Array.isArray(pair) ? pair : []
    if (typeof path === 'string' && typeof id === 'string' && /^[0-9a-f]{40,64}$/.test(id))
      found.set(path, id)
  }
  return found
}
