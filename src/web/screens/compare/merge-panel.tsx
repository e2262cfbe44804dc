import type { VNode } from 'preact'
import { useState } from 'preact/hooks'
import {
  type MergeParams,
  type MergeResolution,
  parseTreeRef,
  type TreeName,
  type WebChange,
  type WebConflict,
} from '../../../web-api/index.ts'
import { call } from '../../client/api.ts'
import { refreshTrees, refreshWaiting, trees } from '../../client/home-state.ts'
import { useAction } from '../../parts/action.ts'
import { ConfirmButton } from '../../parts/confirm-button.tsx'
import { formatCount } from '../../parts/format.ts'
import { useKeys } from '../../parts/keyboard.ts'
import { Notice } from '../../parts/notice.tsx'
import { VisibleText } from '../../parts/visible-text.tsx'
import { navigate } from '../../router.ts'
import { formatTree } from '../../routes.ts'
import { Conflicts } from './conflicts.tsx'
import { type Decisions, describeDecision, toMergeSelection } from './selection.ts'

export interface MergePanelProps {
  readonly source: TreeName
  readonly into: TreeName
  readonly changes: readonly WebChange[]
  readonly decisions: Decisions
  /** Number of all changes, also while only some are read. */
  readonly total: number
  readonly isComplete: boolean
  readonly onMerged: () => void
}

/** The bar below a comparison: the merge of what is kept and, with conflicts, their resolution first. */
export function MergePanel(props: MergePanelProps): VNode {
  const { source, into, changes, total, decisions, isComplete, onMerged } = props
  const [conflicts, setConflicts] = useState<readonly WebConflict[]>([])
  const [resolutions, setResolutions] = useState<ReadonlyMap<string, MergeResolution>>(new Map())
  const [merged, setMerged] = useState<number | undefined>(undefined)
  const params: MergeParams = {
    source,
    into,
    selection: toMergeSelection(changes, decisions),
    resolutions: [...resolutions.values()],
  }
  const merge = useAction(
    () => call('merge', params),
    (result) => {
      refreshTrees()
      refreshWaiting()
      if (!result.isMerged) return setConflicts(result.conflicts)
      setConflicts([])
      setResolutions(new Map())
      setMerged(result.changes)
      onMerged()
    },
  )
  const drop = useAction(
    () => call('dropFork', { tree: source }),
    () => {
      refreshTrees()
      navigate('/')
    },
  )
  const verb = parseTreeRef(into)?.kind === 'directory' ? 'Apply' : 'Merge'
  // A file that is left out has no conflict any more.
  const kept = conflicts.filter(({ path }) => describeDecision(decisions.get(path)) !== 'none')
  const open = kept.filter(({ path, isResolved }) => !isResolved && !resolutions.has(path)).length
  const isEmpty = Array.isArray(params.selection) && params.selection.length === 0
  const canMerge = isComplete && !isEmpty && open === 0 && !merge.isRunning
  const fork = trees.value.find(({ tree }) => tree === source)
  const canDrop = fork?.commands.length === 0 && fork.pids.length === 0
  useKeys([
    { key: 'a', label: `${verb} what is kept`, isGuarded: true, run: () => canMerge && merge.run() },
    { key: 'd', label: 'Drop the fork and its changes', isGuarded: true, run: () => canDrop && drop.run() },
  ])
  return (
    <div class="merge">
      {kept.length > 0 && (
        <Conflicts
          params={params}
          conflicts={kept}
          resolutions={resolutions}
          onResolve={(path, resolution) => setResolutions(changeResolution(resolutions, path, resolution))}
        />
      )}
      {merge.error && <Notice title={`Nothing was written: ${merge.error.message}`} tone="bad" />}
      {drop.error && <Notice title={drop.error.message} tone="bad" />}
      {merged !== undefined && (
        <Merged count={merged} verb={verb} source={source} into={into} onUndone={onMerged} />
      )}
      {changes.length > 0 && (
        <div class="merge-bar">
          <Summary changes={changes} decisions={decisions} unread={isComplete ? 0 : total - changes.length} />
          {open > 0 && <span class="warn-text">{formatCount(open, 'conflict')} to resolve</span>}
          <div class="actions">
            {canDrop && (
              <ConfirmButton label="Drop" question="Drop the fork and its changes?" onConfirm={drop.run} />
            )}
            <button type="button" class="button main" disabled={!canMerge} onClick={merge.run}>
              {verb} {verb === 'Apply' ? 'to' : 'into'}{' '}
              <span class="cut">
                <VisibleText text={formatTree(into)} />
              </span>
            </button>
          </div>
        </div>
      )}
    </div>
  )
}

function Summary({
  changes,
  decisions,
  unread,
}: {
  readonly changes: readonly WebChange[]
  readonly decisions: Decisions
  /** Files that follow in the list: nothing was decided about them yet. */
  readonly unread: number
}): VNode {
  const counts = { all: unread, some: 0, none: 0 }
  for (const { path } of changes) counts[describeDecision(decisions.get(path))]++
  return (
    <span role="status">
      <strong>{formatCount(counts.all + counts.some, 'file')} kept</strong>
      {counts.some > 0 && <span class="soft">, {counts.some} in part</span>}
      {counts.none > 0 && <span class="soft">, {counts.none} left out</span>}
    </span>
  )
}

interface MergedProps {
  readonly count: number
  readonly verb: string
  readonly source: TreeName
  readonly into: TreeName
  readonly onUndone: () => void
}

function Merged({ count, verb, source, into, onUndone }: MergedProps): VNode {
  const [isUndone, setUndone] = useState(false)
  const isApply = verb === 'Apply'
  const undo = useAction(
    () => call('undoMerge', isApply ? { tree: source, isApply } : { tree: into }),
    () => {
      setUndone(true)
      refreshTrees()
      onUndone()
    },
  )
  if (isUndone) return <Notice title="It was undone; everything is as it was before" />
  return (
    <div class="notice merged" role="status">
      <strong>
        {isApply ? 'Wrote' : 'Merged'} {formatCount(count, 'change')} {isApply ? 'to' : 'into'}{' '}
        <VisibleText text={formatTree(into)} />
      </strong>
      <button type="button" class="button small" disabled={undo.isRunning} onClick={undo.run}>
        Undo
      </button>
      {undo.error && <span class="bad-text">{undo.error.message}</span>}
    </div>
  )
}

function changeResolution(
  resolutions: ReadonlyMap<string, MergeResolution>,
  path: string,
  resolution: MergeResolution | undefined,
): ReadonlyMap<string, MergeResolution> {
  const next = new Map(resolutions)
  if (resolution === undefined) next.delete(path)
  else next.set(path, resolution)
  return next
}
