import type { VNode } from 'preact'
import { useState } from 'preact/hooks'
import type { TreeName, WebApproval, WebText, WebTrial } from '../../../web-api/index.ts'
import { call } from '../../client/api.ts'
import { useAction } from '../../parts/action.ts'
import { FileDiff, useFileDiff } from '../../parts/file-diff.tsx'
import { formatCount } from '../../parts/format.ts'
import { useKeys } from '../../parts/keyboard.ts'
import { Notice } from '../../parts/notice.tsx'
import { useResource } from '../../parts/resource.ts'
import { Scroll } from '../../parts/scroll.tsx'
import { VisiblePath, VisibleText } from '../../parts/visible-text.tsx'
import { formatPairRoute } from '../../routes.ts'

const MAX_FILES = 100
/** Lines of a diff in view, and the height of one in pixels. */
const MAX_LINES = 20
const MIN_LINES = 4
const LINE_HEIGHT = 20

/** Shows what a command would change: it runs in a throw-away fork without network, before anybody says yes. */
export function Trial({ approval: { id, canTry } }: { readonly approval: WebApproval }): VNode | null {
  const [trial, setTrial] = useState<WebTrial | undefined>(undefined)
  const run = useAction(() => call('tryApproval', { id }), setTrial)
  useKeys(canTry ? [{ key: 't', label: 'Try it in a throw-away fork', run: run.run }] : [])
  if (!canTry) return null
  return (
    <section class="trial" aria-labelledby="trial-title">
      <div class="row-line">
        <h3 id="trial-title">What it would change</h3>
        <button type="button" class="button small" disabled={run.isRunning} onClick={run.run}>
          {run.isRunning ? 'Running…' : trial === undefined ? 'Try it in a throw-away fork' : 'Try again'}
        </button>
      </div>
      {run.error && <Notice title={run.error.message} tone="bad" />}
      {trial && <TrialResult key={trial.id} trial={trial} />}
    </section>
  )
}

function TrialResult({ trial }: { readonly trial: WebTrial }): VNode {
  const { exitCode, isTimedOut, durationMs, stdout, stderr, changes, from, to, limits } = trial
  return (
    <>
      <p role="status">
        {isTimedOut ? 'It took too long and was stopped' : `It ended with exit code ${exitCode ?? 'none'}`}{' '}
        after {(durationMs / 1000).toFixed(1)} s and changed {formatCount(changes, 'file')}.
      </p>
      {limits.length > 0 && (
        <ul class="limits soft">
          {limits.map((limit) => (
            <li key={limit}>
              <VisibleText text={limit} />
            </li>
          ))}
        </ul>
      )}
      <Output label="Output" text={stdout} />
      <Output label="Errors" text={stderr} />
      {from !== null && to !== null && <TrialChanges from={from} to={to} />}
    </>
  )
}

function Output({ label, text }: { readonly label: string; readonly text: WebText }): VNode | null {
  if (text.text === '') return null
  return (
    <details>
      <summary>{label}</summary>
      <Scroll class="raw" label={label}>
        <pre>
          <VisibleText text={text.text} />
          {text.isCut && '…'}
        </pre>
      </Scroll>
    </details>
  )
}

function TrialChanges({ from, to }: { readonly from: TreeName; readonly to: TreeName }): VNode | null {
  const [shown, show] = useState<string | undefined>(undefined)
  const changes = useResource(`${from} ${to}`, (signal) =>
    call('listChanges', { from, to, limit: MAX_FILES }, signal),
  )
  const loaded = changes.value.value
  if (changes.error.value) return <Notice title={changes.error.value.message} tone="bad" />
  const path = shown ?? loaded?.items[0]?.path
  if (loaded === undefined || path === undefined) return null
  return (
    <div class="panel trial-diff">
      <ul class="step-file-list">
        {loaded.items.map((change) => (
          <li key={change.path}>
            <button
              type="button"
              class="change-name"
              aria-current={change.path === path ? 'true' : undefined}
              onClick={() => show(change.path)}
            >
              <span class={`letter ${change.kind}`} aria-hidden="true">
                {change.kind[0]?.toUpperCase()}
              </span>
              <span class="hidden-label">{change.kind} </span>
              <span class="change-path">
                <VisiblePath path={change.path} />
              </span>
            </button>
          </li>
        ))}
        {loaded.next !== null && (
          <li>
            <a href={formatPairRoute(from, to)}>all changed files</a>
          </li>
        )}
      </ul>
      <TrialDiff key={path} from={from} to={to} path={path} />
    </div>
  )
}

function TrialDiff({
  from,
  to,
  path,
}: {
  readonly from: TreeName
  readonly to: TreeName
  readonly path: string
}): VNode {
  const diff = useFileDiff(from, to, path)
  const rows = diff.value.value?.hunks.reduce((sum, { lines }) => sum + lines.length + 1, 0) ?? 0
  return (
    <div
      class="trial-lines"
      style={{ height: `${Math.min(MAX_LINES, Math.max(rows, MIN_LINES)) * LINE_HEIGHT}px` }}
    >
      <FileDiff diff={diff} isSplit={false} />
    </div>
  )
}
