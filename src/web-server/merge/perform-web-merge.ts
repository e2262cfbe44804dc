import { MergeError, type TextSides } from '../../backends/vault/index.ts'
import type { PathChange } from '../../vfs/index.ts'
import type { MergeParams, WebConflict } from '../../web-api/index.ts'
import { ApplyError, type PendingMerge, performMerge, type TreeChange } from '../../workspace/index.ts'
import type { WebContext } from '../web-context.ts'
import { createMergeError, toPendingMerge } from './merge-request.ts'
import { withPartialVault } from './partial-vault.ts'
import { selectTreeChanges } from './selected-changes.ts'

/** The outcome of a merge, or of a trial. */
export interface WebMergeOutcome {
  readonly changes: readonly (PathChange | TreeChange)[]
  /** Conflicts without a resolution; nothing was written if there is one. */
  readonly open: readonly WebConflict[]
  /** The versions of text files in conflict, resolved or not. */
  readonly texts: ReadonlyMap<string, TextSides>
}

/** Performs a merge of all or of some changes, or tries it. All that is selected is written, or nothing. */
export async function performWebMerge(
  web: WebContext,
  params: MergeParams,
  { isTrial, signal }: { readonly isTrial: boolean; readonly signal: AbortSignal },
): Promise<WebMergeOutcome> {
  const merge = await toPendingMerge(web.trees, params)
  const texts = new Map<string, TextSides>()
  const onTextConflict = (path: string, sides: TextSides) => void texts.set(path, sides)
  const options = { caller: web.caller, signal, isTrial, onTextConflict }
  try {
    return { changes: await perform(web, merge, params, options), open: [], texts }
  } catch (error) {
    if (!(error instanceof MergeError) && !(error instanceof ApplyError)) throw error
    return { changes: [], open: error.conflicts.map((conflict) => toWebConflict(conflict, texts)), texts }
  }
}

type PerformOptions = Parameters<typeof performMerge>[2]

async function perform(
  web: WebContext,
  merge: PendingMerge,
  { selection }: MergeParams,
  options: PerformOptions,
): Promise<readonly (PathChange | TreeChange)[]> {
  const [source = ''] = merge.sources
  if (selection === 'all') return (await performMerge(web.home, merge, options)).changes
  if (selection.length === 0) throw createMergeError('nothing is selected')
  if (merge.kind === 'fork') throw createMergeError('forks of a directory are merged as a whole; select all')
  if (merge.kind === 'vault') {
    const ctx = { caller: web.caller }
    return withPartialVault(web.home, source, selection, ctx, async (partial) => {
      const { changes } = await performMerge(web.home, { ...merge, sources: [partial] }, options)
      return changes
    })
  }
  const { link, fork } = await web.trees.findFork(source)
  const picked = selectTreeChanges(await link.listChanges(fork), selection)
  const { onTextConflict, isTrial, onConflict: _onConflict, ...ctx } = options
  const conflicts = { resolutions: merge.resolutions, onTextConflict }
  return link.apply(fork, { ...ctx, ...picked, conflicts, merge: 'strict', isTrial: isTrial === true })
}

function toWebConflict(
  conflict: (MergeError | ApplyError)['conflicts'][number],
  texts: ReadonlyMap<string, TextSides>,
): WebConflict {
  const { path } = conflict
  const hasText = texts.has(path)
  if ('reason' in conflict)
    return {
      path,
      reason: conflict.reason,
      canChoose: conflict.isChoice === true,
      hasText,
      isResolved: false,
    }
  const { ours, theirs } = conflict
  const reason =
    ours === null
      ? 'was removed here, and changed in the fork'
      : theirs === null
        ? 'changed here, and was removed in the fork'
        : 'changed on both sides'
  return { path, reason, canChoose: true, hasText, isResolved: false }
}
