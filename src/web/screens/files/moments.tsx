import type { VNode } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { JournalBuckets, TreeName, WebCheckpoint } from '../../../web-api/index.ts'
import { call } from '../../client/api.ts'
import { useReload } from '../../client/live.ts'
import { useAction } from '../../parts/action.ts'
import { formatAuthor, pickColour } from '../../parts/author.ts'
import { ConfirmButton } from '../../parts/confirm-button.tsx'
import { formatMoment } from '../../parts/format.ts'
import { useKeys } from '../../parts/keyboard.ts'
import { Notice } from '../../parts/notice.tsx'
import { useResource } from '../../parts/resource.ts'
import { toVisible, VisibleText } from '../../parts/visible-text.tsx'
import { updateQuery } from '../../router.ts'
import { formatPairRoute } from '../../routes.ts'
import { useLatest } from './latest.ts'
import { findBucket, moveRange, type SeqRange, zoomRange } from './seq-range.ts'
import { TimeCanvas } from './time-canvas.tsx'

/** Buckets of one view: about three pixels for each. */
const BUCKETS = 200
const PLAY_MS = 120

export interface MomentsProps {
  readonly tree: TreeName
  /** The moment as a suffix of the tree; empty for now. */
  readonly at: string
}

/** The slider over the history of a tree: any moment, its author, checkpoints, and a way back. */
export function Moments({ tree, at }: MomentsProps): VNode | null {
  const [range, setRange] = useState<SeqRange | undefined>(undefined)
  const journal = useResource(`${tree} ${range?.from ?? ''} ${range?.to ?? ''}`, (signal) =>
    call('getJournalBuckets', { tree, count: BUCKETS, ...range }, signal),
  )
  useReload((event) => event.type === 'journal' && event.tree === tree, journal.reload)
  const loaded = useLatest(journal.value.value)
  const error = journal.error.value
  if (error !== undefined && loaded === undefined) return <Notice title={error.message} tone="bad" />
  if (loaded === undefined || loaded.last === 0) return null
  return <Slider tree={tree} at={at} journal={loaded} range={range} onRange={setRange} />
}

interface SliderProps extends MomentsProps {
  readonly journal: JournalBuckets
  readonly range: SeqRange | undefined
  readonly onRange: (range: SeqRange | undefined) => void
}

function Slider({ tree, at, journal, range, onRange }: SliderProps): VNode {
  const { first, last, checkpoints } = journal
  const seq = parseSeq(at, checkpoints) ?? last
  const shown = range ?? { from: first, to: last }
  const go = (next: number) => {
    const to = Math.max(first, Math.min(last, next))
    updateQuery({ at: to === last ? undefined : `~${to}` })
  }
  // A closer view goes along with a moment that is chosen outside of it.
  useEffect(() => {
    if (range !== undefined) onRange(moveRange(range, seq, { from: first, to: last }))
  }, [seq])
  const [isPlaying, play] = usePlay(seq, shown, go)
  const zoom = (factor: number) => onRange(zoomRange(shown, seq, factor, { from: first, to: last }))
  useKeys([
    { key: '[', label: 'One change back', run: () => go(seq - 1) },
    { key: ']', label: 'One change forward', run: () => go(seq + 1) },
    { key: '+', label: 'Look closer at this moment', run: () => zoom(0.5) },
    { key: '-', label: 'Show more of the history', run: () => zoom(2) },
    { key: 'P', label: 'Play the history', run: () => play(!isPlaying) },
  ])
  const bucket = findBucket(journal.buckets, seq)
  const author = bucket?.authors[0]?.author
  const description = [
    seq === last ? 'now' : `change ${seq} of ${last}`,
    bucket && formatMoment(bucket.toTime),
    author && `by ${formatAuthor(author)}`,
  ]
    .filter(Boolean)
    .join(', ')
  return (
    <div class="moments">
      <button
        type="button"
        class="button small"
        aria-label={isPlaying ? 'Stop' : 'Play the history'}
        onClick={() => play(!isPlaying)}
      >
        {isPlaying ? '❚❚' : '▶'}
      </button>
      <div class="slider">
        <TimeCanvas journal={journal} range={shown} seq={seq} />
        <input
          type="range"
          aria-label="Moment"
          aria-valuetext={description}
          min={shown.from}
          max={shown.to}
          step={1}
          value={seq}
          onInput={(event) => go(Number(event.currentTarget.value))}
        />
      </div>
      <span class="switch">
        <button type="button" class="button small" aria-label="Look closer" onClick={() => zoom(0.5)}>
          +
        </button>
        <button
          type="button"
          class="button small"
          aria-label="Show more"
          disabled={!range}
          onClick={() => zoom(2)}
        >
          −
        </button>
      </span>
      <p class="moment-text">
        <span>{description}</span>
        <Legend journal={journal} />
        <MomentActions tree={tree} at={at} isNow={seq === last} checkpoints={checkpoints} />
      </p>
    </div>
  )
}

/** Moves forward on its own while it plays, in at most a few hundred steps. */
function usePlay(
  seq: number,
  range: SeqRange,
  go: (seq: number) => void,
): readonly [boolean, (on: boolean) => void] {
  const [isPlaying, play] = useState(false)
  const stride = Math.max(1, Math.round((range.to - range.from) / BUCKETS))
  useEffect(() => {
    if (!isPlaying) return undefined
    if (seq >= range.to) {
      play(false)
      return undefined
    }
    const timer = setTimeout(() => go(Math.min(range.to, seq + stride)), PLAY_MS)
    return () => clearTimeout(timer)
  }, [isPlaying, seq, stride, range.to])
  const start = (on: boolean) => {
    if (on && seq >= range.to) go(range.from)
    play(on)
  }
  return [isPlaying, start]
}

function Legend({ journal }: { readonly journal: JournalBuckets }): VNode {
  const authors = new Map(
    journal.buckets.flatMap(({ authors: found }) =>
      found.map(({ author }) => [formatAuthor(author), author]),
    ),
  )
  return (
    <span class="legend">
      {[...authors].slice(0, 8).map(([name, author]) => (
        <span key={name}>
          <span class={`dot author-${pickColour(author)}`} aria-hidden="true" /> <VisibleText text={name} />
        </span>
      ))}
    </span>
  )
}

interface MomentActionsProps extends MomentsProps {
  readonly isNow: boolean
  readonly checkpoints: readonly WebCheckpoint[]
}

function MomentActions({ tree, at, isNow, checkpoints }: MomentActionsProps): VNode {
  const restore = useAction(
    () => call('restoreTree', { tree: `${tree}${at}` }),
    () => updateQuery({ at: undefined }),
  )
  const save = useAction(() => call('createCheckpoint', { tree }))
  return (
    <span class="moment-actions">
      {checkpoints.length > 0 && (
        <select
          class="field"
          aria-label="Checkpoint"
          value={at}
          onChange={(event) => updateQuery({ at: event.currentTarget.value })}
        >
          <option value={at.startsWith('@') ? '' : at}>{at.startsWith('@') ? 'now' : 'checkpoints…'}</option>
          {checkpoints.map(({ name, time, description }) => (
            <option key={name} value={`@${name}`}>
              {[name, description, formatMoment(time)].filter(Boolean).map(toVisible).join(', ')}
            </option>
          ))}
        </select>
      )}
      {isNow ? (
        <button type="button" class="button small" disabled={save.isRunning} onClick={save.run}>
          Save a checkpoint
        </button>
      ) : (
        <>
          <a href={formatPairRoute(tree, `${tree}${at}`)}>what differs from now</a>
          <button type="button" class="button small" onClick={() => updateQuery({ at: undefined })}>
            Back to now
          </button>
        </>
      )}
      {at.startsWith('@') && (
        <ConfirmButton
          label="Restore"
          question="Put all files back to this checkpoint?"
          onConfirm={restore.run}
        />
      )}
      {(restore.error ?? save.error) && (
        <span class="bad-text">{(restore.error ?? save.error)?.message}</span>
      )}
    </span>
  )
}

function parseSeq(at: string, checkpoints: readonly WebCheckpoint[]): number | undefined {
  if (at.startsWith('~')) return Number(at.slice(1))
  return checkpoints.find(({ name }) => `@${name}` === at)?.seq
}
