import type { CommitChangesReport } from '../../backends/git/index.ts'
import type { ExportedChange } from '../../backends/vault/index.ts'
import { listFileChanges, type TreePair } from '../../diff/index.ts'
import { hasPlaceholder } from '../../secrets/index.ts'
import { type CallContext, isLinkable, type PathChange, readFile } from '../../vfs/index.ts'
import { copyEnvironment } from './command-environment.ts'
import type { OpenLinkedFork } from './linked-access.ts'

/** Options of the commit of a fork. */
export interface ForkCommitOptions {
  /** The name of the fork when absent. */
  readonly branch?: string | undefined
  readonly author?: string | undefined
  readonly signal: AbortSignal
}

/** The commit, and files that it leaves out because they have placeholders in place of secrets. */
export interface ForkCommit extends CommitChangesReport {
  readonly masked: readonly string[]
}

/** Writes the changes of a fork of a directory as a commit to a branch of the directory's repository. */
export async function commitFork(
  { link, fork }: OpenLinkedFork,
  { branch = fork.name, author, signal }: ForkCommitOptions,
  ctx: CallContext,
): Promise<ForkCommit> {
  const { commitChanges } = await import('../../backends/git/index.ts')
  const trees = await link.openTrees(fork)
  const exported: ExportedChange[] = []
  const masked: string[] = []
  for await (const change of listFileChanges(link.diff(fork), trees, ctx)) {
    if (isGitPath(change.path)) continue
    if (await isMasked(change, trees, ctx)) masked.push(change.path)
    else exported.push(...(await Array.fromAsync(toExported(change, trees, ctx))))
  }
  const report = await commitChanges(link.path, exported, {
    branch,
    message: `Apply the changes of ${fork.name}`,
    environment: copyEnvironment(),
    signal,
    ...(author !== undefined && { author }),
  })
  return { ...report, masked }
}

function isGitPath(path: string): boolean {
  return /(?:^|\/)\.git(?:\/|$)/i.test(path)
}

async function isMasked({ path, after }: PathChange, trees: TreePair, ctx: CallContext): Promise<boolean> {
  return after?.type === 'file' && hasPlaceholder(await readFile(trees.after, path, {}, ctx))
}

async function* toExported(
  { path, from, after }: PathChange,
  trees: TreePair,
  ctx: CallContext,
): AsyncGenerator<ExportedChange> {
  if (from !== undefined && from !== path) yield { kind: 'remove', path: from }
  if (after === undefined) yield { kind: 'remove', path }
  else if (after.type === 'symlink' && isLinkable(trees.after))
    yield { kind: 'symlink', path, target: await trees.after.readlink(path, ctx) }
  else if (after.type === 'file') {
    const content = async function* () {
      yield await readFile(trees.after, path, {}, ctx)
    }
    yield { kind: 'file', path, mode: after.mode ?? 0o644, size: after.size, content }
  } else if (after.type !== 'directory') yield { kind: 'other', path }
}
