import type { VNode } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { parseTreeRef, type TreeName, type WebChange, type WebHunk } from '../../../web-api/index.ts'
import { useReload } from '../../client/live.ts'
import { FileDiff, useFileDiff } from '../../parts/file-diff.tsx'
import { useKeys } from '../../parts/keyboard.ts'
import { isNarrow } from '../../parts/narrow.ts'
import { toVisible, VisiblePath } from '../../parts/visible-text.tsx'
import { route, updateQuery } from '../../router.ts'
import { formatFilesRoute } from '../../routes.ts'
import { KeepBox, TYPES } from './change-list.tsx'
import { formatVersion, type NeighbourDiffs } from './neighbour-diffs.ts'
import { type Decisions, listLeftOut, toggleHunk } from './selection.ts'
import type { ViewedFiles } from './viewed.ts'

export interface ChangedFileProps {
  readonly from: TreeName
  readonly to: TreeName
  readonly change: WebChange
  /** The files that the next key may show. */
  readonly nextTo: readonly WebChange[]
  readonly neighbours: NeighbourDiffs
  readonly isSplit: boolean
  readonly viewed: ViewedFiles
  /** Decisions about files and hunks; undefined where nothing can be merged. */
  readonly decisions: Decisions | undefined
  readonly onDecide: (decisions: Decisions) => void
}

/** One changed file: its lines, with a choice for each hunk. */
export function ChangedFile(props: ChangedFileProps): VNode {
  const { from, to, change, nextTo, neighbours, isSplit, viewed, decisions, onDecide } = props
  const { path } = change
  const diff = useFileDiff(from, to, path, neighbours.find(change))
  useReload((event) => event.type === 'journal' && (event.tree === to || event.tree === from), diff.reload)
  // A list that was read again has other sizes for a file that changed.
  const version = formatVersion(change)
  const shownVersion = useRef(version)
  useEffect(() => {
    if (shownVersion.current === version) return
    shownVersion.current = version
    diff.reload()
  }, [version])

  const loaded = diff.value.value
  const isLoaded = loaded !== undefined
  useEffect(() => {
    if (isLoaded) neighbours.prefetch(nextTo)
  }, [isLoaded])

  const total = loaded?.hunks.length ?? 0
  const query = route.value.query.get('hunk')
  const active = query === null ? undefined : Number(query) - 1
  const goTo = (hunk: number) =>
    total > 0 && updateQuery({ path, hunk: Math.max(0, Math.min(total - 1, hunk)) + 1 })
  const toggle = (hunk: number) => {
    if (loaded !== undefined && decisions !== undefined) onDecide(toggleHunk(decisions, path, hunk, loaded))
  }
  const markViewed = () => loaded && viewed.toggle(path, loaded.digest)
  useKeys([
    { key: 'n', label: 'Next hunk', run: () => goTo((active ?? -1) + 1) },
    { key: 'p', label: 'Previous hunk', run: () => goTo((active ?? 1) - 1) },
    { key: 'v', label: 'Mark the file as viewed', run: markViewed },
    ...(decisions ? [{ key: 'h', label: 'Keep or leave the hunk', run: () => toggle(active ?? 0) }] : []),
  ])
  const leftOut = loaded && decisions ? listLeftOut(decisions, path, loaded) : undefined
  return (
    <section class="file" aria-label={`File ${toVisible(path)}`}>
      <header class="file-head">
        <h2 class="mono">
          {change.from !== undefined && (
            <>
              <VisiblePath path={change.from} /> →{' '}
            </>
          )}
          <VisiblePath path={path} />
        </h2>
        {change.type !== 'file' && <span class="soft">{TYPES[change.type]}</span>}
        {change.modes !== '' && <span class="soft mono">{change.modes}</span>}
        <div class="file-actions">
          {!isNarrow.value && <ViewSwitch isSplit={isSplit} />}
          {change.kind !== 'deleted' && parseTreeRef(to) !== undefined && (
            <a class="button small" href={formatFilesRoute(to, path)}>
              File
            </a>
          )}
          <label class="button small">
            <input
              type="checkbox"
              checked={loaded !== undefined && viewed.has(path, loaded.digest)}
              disabled={loaded === undefined}
              onChange={markViewed}
            />
            Viewed
          </label>
        </div>
      </header>
      <FileDiff
        diff={diff}
        isSplit={isSplit}
        activeHunk={active}
        {...(leftOut && { leftOut })}
        {...(leftOut && {
          renderControl: (hunk: WebHunk) => (
            <KeepBox
              label={`Keep hunk ${hunk.index + 1}`}
              kept={leftOut.has(hunk.index) ? 'none' : 'all'}
              text={leftOut.has(hunk.index) ? 'left out' : 'keep'}
              onToggle={() => toggle(hunk.index)}
            />
          ),
        })}
      />
    </section>
  )
}

function ViewSwitch({ isSplit }: { readonly isSplit: boolean }): VNode {
  return (
    // biome-ignore lint/a11y/useSemanticElements: two buttons are no fields of a form
    <div class="switch" role="group" aria-label="View">
      <button
        type="button"
        class="button small"
        aria-pressed={!isSplit}
        onClick={() => updateQuery({ view: undefined })}
      >
        Unified
      </button>
      <button
        type="button"
        class="button small"
        aria-pressed={isSplit}
        onClick={() => updateQuery({ view: 'split' })}
      >
        Split
      </button>
    </div>
  )
}
