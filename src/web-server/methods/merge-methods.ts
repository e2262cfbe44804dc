import { z } from 'zod'
import { RunningForks } from '../../boundary/index.ts'
import { replaceCurrentVault } from '../../config/index.ts'
import { VfsError } from '../../vfs/index.ts'
import type { MergeParams, MergeSelection, WebConflict } from '../../web-api/index.ts'
import { PendingMerges, removeForkFiles } from '../../workspace/index.ts'
import { defineWebMethod, type MethodTable } from '../define-method.ts'
import { createMergeError, toPendingMerge } from '../merge/merge-request.ts'
import { performWebMerge, type WebMergeOutcome } from '../merge/perform-web-merge.ts'
import { readConflict } from '../merge/read-conflict.ts'
import { parseTree } from '../trees/home-trees.ts'
import type { WebContext } from '../web-context.ts'

const MAX_RESOLUTION_LENGTH = 4 * 1024 * 1024
const MAX_SELECTED = 100_000

type MergeMethod = 'merge' | 'getConflict' | 'undoMerge' | 'dropFork'

const text = z.string().max(4096)
const selection: z.ZodType<MergeSelection> = z.union([
  z.literal('all'),
  z
    .array(
      z.strictObject({
        path: text,
        hunks: z.array(z.int().nonnegative()).max(MAX_SELECTED).exactOptional(),
        digest: text.exactOptional(),
      }),
    )
    .max(MAX_SELECTED),
])
const mergeShape = {
  source: text,
  into: text,
  selection,
  resolutions: z
    .array(
      z.union([
        z.strictObject({ path: text, take: z.enum(['ours', 'theirs', 'union']) }),
        z.strictObject({ path: text, text: z.string().max(MAX_RESOLUTION_LENGTH), digest: text }),
      ]),
    )
    .max(MAX_SELECTED)
    .exactOptional(),
} as const

export function createMergeMethods(web: WebContext): MethodTable<MergeMethod> {
  return {
    merge: defineWebMethod('merge', z.strictObject(mergeShape), async (params, signal) => {
      assertNoSecrets(web, params)
      const outcome = await performWebMerge(web, params, { isTrial: false, signal })
      if (outcome.open.length > 0) return { isMerged: false, conflicts: listConflicts(outcome, params) }
      await endPendingMerge(web, params)
      return { isMerged: true, changes: outcome.changes.length }
    }),
    getConflict: defineWebMethod(
      'getConflict',
      z.strictObject({ ...mergeShape, path: text }),
      ({ path, ...params }, signal) => readConflict(web, params, path, signal),
    ),
    undoMerge: defineWebMethod(
      'undoMerge',
      z.strictObject({ tree: text, isApply: z.boolean().exactOptional() }),
      async ({ tree, isApply = false }) => ({ changes: await undoMerge(web, tree, isApply) }),
    ),
    dropFork: defineWebMethod('dropFork', z.strictObject({ tree: text }), async ({ tree }) => {
      await dropFork(web, tree)
      return null
    }),
  }
}

/** Ends the same merge if it waits for its conflicts to be resolved on the command line. */
async function endPendingMerge({ trees, path }: WebContext, params: MergeParams): Promise<void> {
  const { sources, target } = await toPendingMerge(trees, params)
  const merges = new PendingMerges(path)
  if (merges.find(target)?.sources.join() === sources.join()) await merges.end(target)
}

/**
 * Throws EINVAL for an edited text that has a secret, or the mark of one that was taken out: the file would lose it.
 */
function assertNoSecrets({ redactor }: WebContext, { resolutions = [] }: MergeParams): void {
  for (const resolution of resolutions)
    if (
      'text' in resolution &&
      (resolution.text.includes('[redacted]') || redactor.redactText(resolution.text) !== resolution.text)
    ) {
      const detail = `${resolution.path} has secrets, which the page does not see; choose a side, or use coppice resolve --edit`
      throw new VfsError('EINVAL', resolution.path, { op: 'merge', detail })
    }
}

function listConflicts({ open, texts }: WebMergeOutcome, { resolutions = [] }: MergeParams): WebConflict[] {
  const paths = new Set(open.map(({ path }) => path))
  const resolved = resolutions
    .filter(({ path }) => !paths.has(path))
    .map(({ path }): WebConflict => {
      const hasText = texts.has(path)
      return { path, reason: 'resolved', canChoose: true, hasText, isResolved: true }
    })
  return [...open, ...resolved]
}

async function undoMerge(
  { trees, home, caller }: WebContext,
  tree: string,
  isApply: boolean,
): Promise<number> {
  const ref = parseTree(tree)
  if (ref.kind === 'directory') throw createMergeError('name the fork whose apply is to be undone')
  if (ref.kind === 'vault') {
    await trees.openVault(ref.name)
    return (await home.undoMerge(ref.name, { caller })).length
  }
  const { link, fork } = await trees.findFork(ref.name)
  return (isApply ? await link.undo(fork, { caller }) : await link.undoMerge(fork, { caller })).length
}

async function dropFork({ trees, home, path }: WebContext, tree: string): Promise<void> {
  const ref = parseTree(tree)
  if (ref.kind === 'directory' || ref.at !== undefined) throw createMergeError('only a fork can be dropped')
  const { name } = ref
  const running = RunningForks.of(path).find(name)
  if (running !== undefined) throw createMergeError(`${name} is in use by '${running.command}'`)
  await trees.openVault(name)
  const { from } = await home.info(name)
  if (from === undefined) throw createMergeError(`'${name}' is not a fork`)
  if (ref.kind === 'fork') {
    const { link, fork } = await trees.findFork(name)
    await link.drop(fork)
  } else {
    await home.deleteVault(name)
    await removeForkFiles(path, name)
  }
  await replaceCurrentVault(path, { name, from: from.vault }, await home.vaults())
}
