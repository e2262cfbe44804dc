import type { VNode } from 'preact'
import { useMemo, useState } from 'preact/hooks'
import { parseTreeRef, type TreeName } from '../../../web-api/index.ts'
import { isLoaded, trees } from '../../client/home-state.ts'
import { useReconnect, useReload } from '../../client/live.ts'
import { formatCount } from '../../parts/format.ts'
import { useKeys } from '../../parts/keyboard.ts'
import { isNarrow } from '../../parts/narrow.ts'
import { Notice } from '../../parts/notice.tsx'
import { route, updateQuery } from '../../router.ts'
import { ChangeList } from './change-list.tsx'
import { ChangedFile } from './changed-file.tsx'
import { MergePanel } from './merge-panel.tsx'
import { NeighbourDiffs } from './neighbour-diffs.ts'
import { type Decisions, decideAll, toggleFile } from './selection.ts'
import { useChanges } from './use-changes.ts'
import { ViewedFiles } from './viewed.ts'

export interface ComparisonProps {
  readonly from: TreeName
  readonly to: TreeName
}

/** The files that differ between two trees, the lines of one of them, and the merge of what is kept. */
export function Comparison({ from, to }: ComparisonProps): VNode {
  const { query } = route.value
  const list = useChanges(from, to)
  const viewed = useMemo(() => new ViewedFiles(from, to), [from, to])
  const [decisions, setDecisions] = useState<Decisions>(new Map())
  const neighbours = useMemo(() => new NeighbourDiffs(from, to), [from, to])
  const reload = () => {
    neighbours.clear()
    list.reload()
  }
  useReload((event) => event.type === 'journal' && isSameTree(event.tree, from, to), reload)
  useReconnect(neighbours.clear)

  const [changes, total, isComplete] = [list.changes.value, list.total.value, list.isComplete.value]
  const into = query.get('into') ?? trees.value.find(({ tree }) => tree === to)?.parent ?? ''
  // A comparison from where a fork began is taken for one that can be merged, until its parent is known.
  const canDecide = from === `${to}^` && (into !== '' || !isLoaded.value)
  const selected = Math.max(
    0,
    changes.findIndex(({ path }) => path === query.get('path')),
  )
  const change = changes[selected]
  const isSplit = query.get('view') === 'split' && !isNarrow.value
  const select = (index: number) =>
    updateQuery({ path: changes[index]?.path ?? change?.path, hunk: undefined })

  useKeys([
    { key: 'j', label: 'Next file', run: () => select(Math.min(selected + 1, changes.length - 1)) },
    { key: 'k', label: 'Previous file', run: () => select(Math.max(selected - 1, 0)) },
    { key: 's', label: 'One column or two', run: () => updateQuery({ view: isSplit ? undefined : 'split' }) },
    ...(canDecide && change
      ? [
          {
            key: 'x',
            label: 'Keep or leave the file',
            run: () => setDecisions(toggleFile(decisions, change.path)),
          },
        ]
      : []),
  ])

  const error = list.error.value
  if (error !== undefined && changes.length === 0)
    return (
      <div class="page">
        <Notice title="These cannot be compared" tone="bad">
          <p>{error.message}</p>
        </Notice>
      </div>
    )
  return (
    <>
      {change === undefined ? (
        <NoChanges isComplete={isComplete} />
      ) : (
        <div class="work-columns">
          <aside class="side" aria-label="Changed files">
            <div class="side-head">
              <span>
                {isComplete && changes.length < total && `${changes.length.toLocaleString('en')} of `}
                {formatCount(total, 'file')}
                {!isComplete && '…'}
              </span>
              {canDecide && (
                <span class="side-actions">
                  <button type="button" class="link" onClick={() => setDecisions(decideAll(changes, true))}>
                    keep all
                  </button>
                  <button type="button" class="link" onClick={() => setDecisions(decideAll(changes, false))}>
                    leave all
                  </button>
                </span>
              )}
            </div>
            <div class="side-list">
              <ChangeList
                changes={changes}
                selected={selected}
                decisions={decisions}
                canDecide={canDecide}
                isViewed={(path) => viewed.has(path)}
                onSelect={(path) => updateQuery({ path, hunk: undefined })}
                onToggle={(path) => setDecisions(toggleFile(decisions, path))}
              />
            </div>
          </aside>
          <ChangedFile
            key={change.path}
            from={from}
            to={to}
            change={change}
            nextTo={[changes[selected + 1], changes[selected - 1]].filter((next) => next !== undefined)}
            neighbours={neighbours}
            isSplit={isSplit}
            viewed={viewed}
            decisions={canDecide ? decisions : undefined}
            onDecide={setDecisions}
          />
        </div>
      )}
      {/* It stays when everything is merged and nothing differs any more: it has the undo. */}
      {canDecide && into !== '' && (
        <MergePanel
          source={to}
          into={into}
          changes={changes}
          total={total}
          decisions={decisions}
          isComplete={isComplete}
          onMerged={reload}
        />
      )}
    </>
  )
}

function NoChanges({ isComplete }: { readonly isComplete: boolean }): VNode {
  if (!isComplete)
    return (
      <p class="page soft" role="status">
        Comparing…
      </p>
    )
  return (
    <div class="page">
      <Notice title="Nothing differs">
        <p>Both have the same files. Changes appear here as soon as they are made.</p>
      </Notice>
    </div>
  )
}

function isSameTree(changed: TreeName, ...compared: readonly TreeName[]): boolean {
  return compared.some((tree) => {
    const ref = parseTreeRef(tree)
    if (ref === undefined) return false
    if (ref.kind === 'directory') return tree === changed
    return ref.at === undefined && tree === changed
  })
}
