import type { VNode } from 'preact'
import { useState } from 'preact/hooks'
import type { UndoTimelineParams, WebTimelineItem, WebUndoReport } from '../../../web-api/index.ts'
import { ApiError, call } from '../../client/api.ts'
import { useReload } from '../../client/live.ts'
import { useAction } from '../../parts/action.ts'
import { formatCount, formatMoment } from '../../parts/format.ts'
import { Command, Notice } from '../../parts/notice.tsx'
import { useResource } from '../../parts/resource.ts'
import { Tag } from '../../parts/tag.tsx'
import { VisibleText } from '../../parts/visible-text.tsx'

const MAX_ITEMS = 200
/** Changed paths that an item shows. */
const MAX_PATHS = 10

interface TimelineProps {
  readonly directory: string
  /** Title where nothing is recorded. */
  readonly emptyTitle?: string
}

/** Changes of a directory by agents with hooks, by prompts. Each prompt can be undone after a look at the result. */
export function Timeline({
  directory,
  emptyTitle = 'Nothing is recorded for this directory',
}: TimelineProps): VNode {
  const timeline = useResource(directory, (signal) =>
    call('listTimeline', { directory, limit: MAX_ITEMS }, signal),
  )
  useReload(({ type }) => type === 'journal' || type === 'trees', timeline.reload)
  const items = timeline.value.value?.items
  const error = timeline.error.value
  const isMissing = error instanceof ApiError && error.code === 'ENOENT'
  if (error !== undefined && !isMissing) return <Notice title={error.message} tone="bad" />
  if (isMissing || items?.length === 0)
    return (
      <Notice title={emptyTitle}>
        <p>
          Prompts of an agent that works in this directory itself appear here, with an undo, once its hooks
          are set:
        </p>
        <Command text="coppice hooks install claude" />
      </Notice>
    )
  if (items === undefined) return <p class="soft pad">Reading…</p>
  const last = items.find(({ kind }) => kind === 'record')
  return (
    <ol class="versions" aria-label="Timeline">
      {last?.kind === 'record' && last.by === 'undo' && (
        <Redo directory={directory} onRedone={timeline.reload} />
      )}
      {items.map((item) => (
        <Item
          key={item.kind === 'record' ? item.number : `${item.kind} ${item.time}`}
          item={item}
          directory={directory}
          onUndone={timeline.reload}
        />
      ))}
    </ol>
  )
}

interface ItemProps {
  readonly item: WebTimelineItem
  readonly directory: string
  readonly onUndone: () => void
}

function Item({ item, directory, onUndone }: ItemProps): VNode {
  if (item.kind === 'failure')
    return (
      <li class="row">
        <Tag tone="bad">hook failed</Tag> <VisibleText text={`${item.agent}: ${item.message}`} />
      </li>
    )
  if (item.kind === 'prompt')
    return (
      <li class="row timeline-item">
        <div class="row-line">
          <Tag tone="live">
            <VisibleText text={item.agent} />
          </Tag>
          <strong class="row-name">
            <VisibleText text={item.text} />
          </strong>
          <span class="row-end soft">{formatMoment(item.time)}</span>
        </div>
        <Undo params={{ directory, selection: { prompt: item.prompt } }} onUndone={onUndone} />
      </li>
    )
  return (
    <li class="row timeline-item">
      <div class="row-line">
        <Tag>{item.by}</Tag>
        <span class="row-cut">
          <VisibleText text={item.call?.summary ?? formatCount(item.total, 'change')} />
        </span>
        {item.isUndone && <Tag tone="wait">undone</Tag>}
        <span class="row-end soft">{formatMoment(item.time)}</span>
      </div>
      <ul class="soft mono">
        {item.changes.slice(0, MAX_PATHS).map(({ path, kind }) => (
          <li key={path}>
            {kind} <VisibleText text={path} />
          </li>
        ))}
      </ul>
    </li>
  )
}

function Undo({
  params,
  onUndone,
}: {
  readonly params: UndoTimelineParams
  readonly onUndone: () => void
}): VNode {
  const [plan, setPlan] = useState<WebUndoReport | undefined>(undefined)
  const look = useAction(() => call('undoTimeline', { ...params, isTrial: true }), setPlan)
  const undo = useAction(
    () => call('undoTimeline', params),
    () => {
      setPlan(undefined)
      onUndone()
    },
  )
  const error = look.error ?? undo.error
  return (
    <div class="row-line version-actions">
      {plan === undefined ? (
        <button type="button" class="button small" disabled={look.isRunning} onClick={look.run}>
          Undo this prompt…
        </button>
      ) : (
        <>
          <span class="row-cut">
            {formatCount(plan.total, 'file')}:{' '}
            <VisibleText text={plan.changes.map(({ path }) => path).join(', ')} />
          </span>
          <button type="button" class="button small main" disabled={undo.isRunning} onClick={undo.run}>
            Put them back
          </button>
          <button type="button" class="button small" onClick={() => setPlan(undefined)}>
            Cancel
          </button>
        </>
      )}
      {error && <span class="bad-text">{error.message}</span>}
    </div>
  )
}

/** Takes the last undo back. */
function Redo({ directory, onRedone }: { readonly directory: string; readonly onRedone: () => void }): VNode {
  const redo = useAction(() => call('redoTimeline', { directory }), onRedone)
  return (
    <li class="row row-line">
      <span>The last change of this directory was an undo.</span>
      <button type="button" class="button small" disabled={redo.isRunning} onClick={redo.run}>
        Redo
      </button>
      {redo.error && <span class="bad-text">{redo.error.message}</span>}
    </li>
  )
}
