import type { VNode } from 'preact'
import type { TreeName, WebFileVersion } from '../../../web-api/index.ts'
import { call } from '../../client/api.ts'
import { useReload } from '../../client/live.ts'
import { useAction } from '../../parts/action.ts'
import { formatAuthor, pickColour } from '../../parts/author.ts'
import { ConfirmButton } from '../../parts/confirm-button.tsx'
import { formatBytes, formatMoment } from '../../parts/format.ts'
import { Notice } from '../../parts/notice.tsx'
import { useResource } from '../../parts/resource.ts'
import { VisibleText } from '../../parts/visible-text.tsx'
import { formatFilesRoute, formatPairRoute, formatProcessRoute } from '../../routes.ts'

const MAX_VERSIONS = 500

/** The versions of a file, the newest first, each with a way back to it. */
export function VersionList({ tree, path }: { readonly tree: TreeName; readonly path: string }): VNode {
  const versions = useResource(`${tree} ${path}`, (signal) =>
    call('listVersions', { tree, path, limit: MAX_VERSIONS }, signal),
  )
  useReload((event) => event.type === 'journal' && event.tree === tree, versions.reload)
  const items = versions.value.value?.items
  if (versions.error.value) return <Notice title={versions.error.value.message} tone="bad" />
  if (items === undefined) return <p class="soft pad">Reading…</p>
  if (items.length === 0)
    return <Notice title="This file has no version of its own here: it is as it was forked" />
  return (
    <ol class="versions">
      {items.map((version, index) => (
        <Version key={version.seq} tree={tree} path={path} version={version} isLatest={index === 0} />
      ))}
    </ol>
  )
}

interface VersionProps {
  readonly tree: TreeName
  readonly path: string
  readonly version: WebFileVersion
  readonly isLatest: boolean
}

function Version({
  tree,
  path,
  version: { version, seq, time, size, op, author },
  isLatest,
}: VersionProps): VNode {
  const revert = useAction(() => call('revertFile', { tree, path, version }))
  return (
    <li class="row">
      <div class="row-line">
        <span class={`dot author-${pickColour(author)}`} aria-hidden="true" />
        <span class="row-name">
          <VisibleText text={formatAuthor(author)} />
        </span>
        <span class="soft row-cut">
          <VisibleText text={op} />, {formatBytes(size)}, <time dateTime={time}>{formatMoment(time)}</time>
        </span>
      </div>
      <div class="row-line version-actions">
        <a href={formatFilesRoute(tree, path, { at: `~${seq}` })}>open</a>
        {!isLatest && <a href={formatPairRoute(tree, `${tree}~${seq}`, path)}>what a revert changes</a>}
        {author.pid !== null && (
          <a href={formatProcessRoute(author.pid, author.step ?? undefined)}>its step</a>
        )}
        {!isLatest && (
          <ConfirmButton label="Revert" question="Write this version again?" onConfirm={revert.run} />
        )}
        {revert.error && <span class="bad-text">{revert.error.message}</span>}
      </div>
    </li>
  )
}
