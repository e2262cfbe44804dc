import type { VNode } from 'preact'
import { useState } from 'preact/hooks'
import type { WebChange, WebStep, WebStepFiles } from '../../../web-api/index.ts'
import { call } from '../../client/api.ts'
import { FileDiff, useFileDiff } from '../../parts/file-diff.tsx'
import { formatCount } from '../../parts/format.ts'
import { Notice } from '../../parts/notice.tsx'
import { useResource } from '../../parts/resource.ts'
import { VisiblePath } from '../../parts/visible-text.tsx'
import { formatPairRoute } from '../../routes.ts'

/** Files of a step beyond these are in the comparison. */
const MAX_FILES = 100

/** The files that a step changed, and the lines of one of them. */
export function StepFiles({ pid, step }: { readonly pid: number; readonly step: WebStep }): VNode {
  const files = useResource(`${pid} ${step.step}`, (signal) =>
    call('listStepFiles', { pid, step: step.step, limit: MAX_FILES }, signal),
  )
  const loaded = files.value.value
  return (
    <aside class="step-files" aria-label={`Files of step ${step.step}`}>
      <div class="side-head">
        <span>Files of step {step.step}</span>
        {loaded?.from != null && loaded.to !== null && (
          <a href={formatPairRoute(loaded.from, loaded.to)}>compare</a>
        )}
      </div>
      {files.error.value && <Notice title={files.error.value.message} tone="bad" />}
      {loaded &&
        (loaded.items.length === 0 ? <p class="soft pad">It changed no file.</p> : <Files files={loaded} />)}
    </aside>
  )
}

function Files({ files }: { readonly files: WebStepFiles }): VNode {
  const [shown, show] = useState(files.items[0]?.path ?? '')
  const { from, to, items } = files
  return (
    <>
      <ul class="step-file-list">
        {items.map((change) => (
          <li key={change.path}>
            <FileButton change={change} isShown={change.path === shown} onShow={() => show(change.path)} />
          </li>
        ))}
      </ul>
      {files.next !== null && <p class="soft pad">The first {formatCount(items.length, 'file')}.</p>}
      {from !== null && to !== null && shown !== '' && (
        <StepDiff key={shown} from={from} to={to} path={shown} />
      )}
    </>
  )
}

function FileButton({
  change: { path, kind },
  isShown,
  onShow,
}: {
  readonly change: WebChange
  readonly isShown: boolean
  readonly onShow: () => void
}): VNode {
  return (
    <button type="button" class="change-name" aria-current={isShown ? 'true' : undefined} onClick={onShow}>
      <span class={`letter ${kind}`} aria-hidden="true">
        {kind[0]?.toUpperCase()}
      </span>
      <span class="hidden-label">{kind} </span>
      <span class="change-path">
        <VisiblePath path={path} />
      </span>
    </button>
  )
}

function StepDiff({
  from,
  to,
  path,
}: {
  readonly from: string
  readonly to: string
  readonly path: string
}): VNode {
  const diff = useFileDiff(from, to, path)
  return <FileDiff diff={diff} isSplit={false} />
}
