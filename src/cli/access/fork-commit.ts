import { existsSync } from 'node:fs'
import { readFile as readFromDisk } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { BaseFile, CommitChangesReport, CopiedCommits } from '../../backends/git/index.ts'
import type { ExportedChange } from '../../backends/vault/index.ts'
import { listFileChanges, type TreePair } from '../../diff/index.ts'
import { parseCommitId, parseGitPath, parsePackedRefs } from '../../git-files/index.ts'
import { hasPlaceholder } from '../../secrets/index.ts'
import {
  type CallContext,
  type FileSystem,
  isLinkable,
  isVfsError,
  type PathChange,
  readFile,
} from '../../vfs/index.ts'
import { copyEnvironment } from './command-environment.ts'
import type { OpenLinkedFork } from './linked-access.ts'

const HEAD = '/.git/HEAD'
const OBJECT_PATH = /^\/\.git\/objects\/((?:[0-9a-f]{2}|pack)\/.+)$/

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

/**
 * Writes the changes of a fork of a directory to a branch of the directory's repository: the commits that were made in
 * the fork, then one with the other changes.
 */
export async function commitFork(
  { link, fork }: OpenLinkedFork,
  { branch = fork.name, author, signal }: ForkCommitOptions,
  ctx: CallContext,
): Promise<ForkCommit> {
  const { commitChanges } = await import('../../backends/git/index.ts')
  const trees = await link.openTrees(fork)
  const exported: ExportedChange[] = []
  const masked: string[] = []
  const bases: BaseFile[] = []
  const repositories = new Set<string>()
  const objects = new Map<string, () => Promise<Uint8Array>>()
  for await (const change of listFileChanges(link.diff(fork), trees, ctx)) {
    const [, object] = OBJECT_PATH.exec(change.path) ?? []
    if (object !== undefined && change.after?.type === 'file')
      objects.set(object, () => readFile(trees.after, change.path, {}, ctx))
    const repository = findNestedRepository(change.path)
    if (repository !== undefined) repositories.add(repository)
    if (isGitPath(change.path)) continue
    bases.push(...listBases(change, trees, ctx))
    if (await isMasked(change, trees, ctx)) masked.push(change.path)
    else exported.push(...(await Array.fromAsync(toExported(change, trees, ctx))))
  }
  const report = await commitChanges(link.path, exported, {
    branch,
    message: `Apply the changes of ${fork.name}`,
    bases,
    repositories,
    commits: await findCommits(link.path, objects, trees, ctx),
    environment: copyEnvironment(),
    signal,
    ...(author !== undefined && { author }),
  })
  return { ...report, masked }
}

/** Returns the directory of a repository below the root, if the path is one of git's own files in it. */
function findNestedRepository(path: string): string | undefined {
  const root = parseGitPath(path)?.root
  return root === undefined || root === '/.git' ? undefined : dirname(root)
}

/** Finds the commits that lead to the one checked out in a fork; undefined if none was made there. */
async function findCommits(
  directory: string,
  objects: CopiedCommits['objects'],
  trees: TreePair,
  ctx: CallContext,
): Promise<CopiedCommits | undefined> {
  if (objects.size === 0) return undefined
  // A fork has only what its commands changed.
  const head =
    (await readIfPresent(trees.after, HEAD, ctx)) ?? (await readFileIfPresent(join(directory, HEAD)))
  const branch =
    head &&
    Buffer.from(head)
      .toString()
      .match(/^ref: (.+)\n?$/)?.[1]
  const tip = branch ? await findTip(directory, branch, trees, ctx) : head && parseCommitId(head)
  return tip ? { tip, objects } : undefined
}

/** Finds the commit of a branch as a fork has it: in its loose file, or among its packed refs. */
async function findTip(
  directory: string,
  branch: string,
  { before, after }: TreePair,
  ctx: CallContext,
): Promise<string | undefined> {
  const path = `/.git/${branch}`
  const content = await readIfPresent(after, path, ctx)
  if (content !== undefined) return parseCommitId(content)
  const packed = await readIfPresent(after, '/.git/packed-refs', ctx)
  // A loose file that the fork never touched wins over its packed refs.
  const isRemoved = (await readIfPresent(before, path, ctx)) !== undefined
  if (packed === undefined || (!isRemoved && existsSync(join(directory, path)))) return undefined
  return parsePackedRefs(packed)?.get(branch)
}

/** Lists the file of a change as it was before; none for a directory. */
function listBases({ path, from = path, before }: PathChange, trees: TreePair, ctx: CallContext): BaseFile[] {
  const tree = trees.before
  if (before === undefined) return [{ path, size: 0 }]
  const file = { path: from, size: before.size }
  if (before.type === 'file') return [{ ...file, read: () => readFile(tree, from, {}, ctx) }]
  if (before.type !== 'symlink' || !isLinkable(tree)) return []
  return [{ ...file, read: async () => Buffer.from(await tree.readlink(from, ctx)) }]
}

async function readIfPresent(
  tree: FileSystem,
  path: string,
  ctx: CallContext,
): Promise<Uint8Array | undefined> {
  try {
    return await readFile(tree, path, {}, ctx)
  } catch (error) {
    if (isVfsError(error, 'ENOENT') || isVfsError(error, 'ENOTDIR')) return undefined
    throw error
  }
}

async function readFileIfPresent(path: string): Promise<Uint8Array | undefined> {
  return existsSync(path) ? await readFromDisk(path) : undefined
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
