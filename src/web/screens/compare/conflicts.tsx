import type { VNode } from 'preact'
import { useState } from 'preact/hooks'
import type { MergeParams, MergeResolution, WebAuthor, WebConflict, WebText } from '../../../web-api/index.ts'
import { call } from '../../client/api.ts'
import { formatAuthor } from '../../parts/author.ts'
import { Notice } from '../../parts/notice.tsx'
import { useResource } from '../../parts/resource.ts'
import { Scroll } from '../../parts/scroll.tsx'
import { Tag } from '../../parts/tag.tsx'
import { VisiblePath, VisibleText } from '../../parts/visible-text.tsx'
import { ConflictEditor } from './conflict-editor.tsx'

export interface ConflictsProps {
  readonly params: MergeParams
  readonly conflicts: readonly WebConflict[]
  readonly resolutions: ReadonlyMap<string, MergeResolution>
  readonly onResolve: (path: string, resolution: MergeResolution | undefined) => void
}

/** The files that both sides changed, each with its three versions and a choice. */
export function Conflicts({ params, conflicts, resolutions, onResolve }: ConflictsProps): VNode {
  const [shown, show] = useState(conflicts[0]?.path ?? '')
  const conflict = conflicts.find(({ path }) => path === shown) ?? conflicts[0]
  return (
    <section class="conflicts" aria-labelledby="conflicts-title">
      <h2 id="conflicts-title">Both sides changed these files. Nothing is written until each is resolved.</h2>
      <ul class="conflict-list">
        {conflicts.map(({ path, isResolved }) => (
          <li key={path}>
            <button
              type="button"
              class="button small mono"
              aria-pressed={path === conflict?.path}
              onClick={() => show(path)}
            >
              <VisiblePath path={path} />
              <Tag tone={isResolved || resolutions.has(path) ? 'good' : 'wait'}>
                {describeResolution(resolutions.get(path), isResolved)}
              </Tag>
            </button>
          </li>
        ))}
      </ul>
      {conflict && (
        <OneConflict
          key={conflict.path}
          params={params}
          conflict={conflict}
          resolution={resolutions.get(conflict.path)}
          onResolve={(resolution) => onResolve(conflict.path, resolution)}
        />
      )}
    </section>
  )
}

interface OneConflictProps {
  readonly params: MergeParams
  readonly conflict: WebConflict
  readonly resolution: MergeResolution | undefined
  readonly onResolve: (resolution: MergeResolution | undefined) => void
}

function OneConflict({ params, conflict, resolution, onResolve }: OneConflictProps): VNode {
  const { path, reason, canChoose, hasText } = conflict
  const take = (side: 'ours' | 'theirs' | 'union') => () => onResolve({ path, take: side })
  const taken = resolution && 'take' in resolution ? resolution.take : undefined
  return (
    <div class="conflict">
      <p class="soft">
        <VisibleText text={reason} />
      </p>
      {canChoose ? (
        // biome-ignore lint/a11y/useSemanticElements: buttons are no fields of a form
        <div class="switch" role="group" aria-label="Take a side">
          <button type="button" class="button small" aria-pressed={taken === 'ours'} onClick={take('ours')}>
            Keep ours
          </button>
          <button
            type="button"
            class="button small"
            aria-pressed={taken === 'theirs'}
            onClick={take('theirs')}
          >
            Take theirs
          </button>
          {hasText && (
            <button
              type="button"
              class="button small"
              aria-pressed={taken === 'union'}
              onClick={take('union')}
            >
              Both
            </button>
          )}
        </div>
      ) : (
        <Notice title="No side of this can be chosen: leave the file out, and merge it by hand" tone="warn" />
      )}
      {hasText && <Sides params={params} path={path} resolution={resolution} onResolve={onResolve} />}
    </div>
  )
}

function Sides({
  params,
  path,
  resolution,
  onResolve,
}: {
  readonly params: MergeParams
  readonly path: string
  readonly resolution: MergeResolution | undefined
  readonly onResolve: (resolution: MergeResolution | undefined) => void
}): VNode {
  const { source, into, selection } = params
  const sides = useResource(`${source} ${into} ${path}`, (signal) =>
    call('getConflict', { source, into, selection, path }, signal),
  )
  const loaded = sides.value.value
  if (sides.error.value !== undefined) return <Notice title={sides.error.value.message} tone="bad" />
  if (loaded === undefined) return <p class="soft">Reading the three versions…</p>
  return (
    <>
      <div class="three">
        <Version title="Base" text={loaded.base} />
        <Version title="Ours" text={loaded.ours} by={loaded.oursBy} />
        <Version title="Theirs" text={loaded.theirs} by={loaded.theirsBy} />
      </div>
      {loaded.isRedacted ? (
        <Notice title="Secrets are taken out of these texts, so they cannot be edited here: take a side" />
      ) : loaded.merged.isCut ? (
        <Notice title="This file is too long to edit here: take a side, or use coppice resolve" />
      ) : (
        <ConflictEditor sides={loaded} resolution={resolution} onResolve={onResolve} />
      )}
    </>
  )
}

function Version({
  title,
  text,
  by = [],
}: {
  readonly title: string
  readonly text: WebText
  readonly by?: readonly WebAuthor[]
}): VNode {
  return (
    <figure class="version">
      <figcaption>
        <strong>{title}</strong>{' '}
        {by.length > 0 && (
          <span class="soft">
            by <VisibleText text={by.map(formatAuthor).join(', ')} />
          </span>
        )}
      </figcaption>
      <Scroll label={`${title} version`}>
        <pre>
          <VisibleText text={text.text} />
          {text.isCut && '…'}
        </pre>
      </Scroll>
    </figure>
  )
}

function describeResolution(resolution: MergeResolution | undefined, isResolved: boolean): string {
  if (resolution === undefined) return isResolved ? 'resolved' : 'open'
  if ('text' in resolution) return 'edited'
  return resolution.take === 'union' ? 'both' : resolution.take
}
