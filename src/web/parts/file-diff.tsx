import { type Signal, signal } from '@preact/signals'
import type { ComponentChildren, VNode } from 'preact'
import { useMemo } from 'preact/hooks'
import type { TreeName, WebChange, WebFileDiff, WebHunk } from '../../web-api/index.ts'
import { call } from '../client/api.ts'
import { DiffView } from './diff-view.tsx'
import { formatBytes } from './format.ts'
import { ImageView } from './image-view.tsx'
import { Notice } from './notice.tsx'
import { type EarlyValue, type Resource, useResource } from './resource.ts'

/** The diff of a file, of which more hunks can be loaded. */
export interface LoadedDiff extends Resource<WebFileDiff> {
  readonly from: TreeName
  readonly to: TreeName
  readonly loadMore: () => void
  readonly isLoadingMore: Signal<boolean>
}

/** Loads the first hunks of a file. Loading it again begins with the first ones. */
export function useFileDiff(
  from: TreeName,
  to: TreeName,
  path: string,
  early?: EarlyValue<WebFileDiff>,
): LoadedDiff {
  const resource = useResource(
    `${from} ${to} ${path}`,
    (aborted) => call('getFileDiff', { from, to, path }, aborted),
    early,
  )
  const isLoadingMore = useMemo(() => signal(false), [])
  const loadMore = async () => {
    const loaded = resource.value.value
    if (loaded?.next == null || isLoadingMore.value) return
    isLoadingMore.value = true
    try {
      const more = await call('getFileDiff', { from, to, path, cursor: loaded.next })
      // Hunks of another version would not fit behind those that are shown.
      if (more.digest === loaded.digest)
        resource.value.value = { ...more, hunks: [...loaded.hunks, ...more.hunks] }
      else resource.reload()
    } catch (error) {
      resource.error.value = error instanceof Error ? error : new Error(String(error))
    } finally {
      isLoadingMore.value = false
    }
  }
  return { ...resource, from, to, loadMore: () => void loadMore(), isLoadingMore }
}

export interface FileDiffProps {
  readonly diff: LoadedDiff
  readonly isSplit: boolean
  readonly activeHunk?: number | undefined
  readonly renderControl?: (hunk: WebHunk) => ComponentChildren
  readonly leftOut?: ReadonlySet<number>
}

/** The diff of a file in any state: loading, failed, without lines to show, or its lines. */
export function FileDiff({ diff, ...view }: FileDiffProps): VNode {
  const [loaded, error] = [diff.value.value, diff.error.value]
  if (loaded === undefined) {
    if (error !== undefined)
      return (
        <Notice title="The changes could not be read" tone="bad">
          {error.message}
        </Notice>
      )
    return (
      <p class="soft pad" role="status">
        Reading the changes…
      </p>
    )
  }
  const reason = explainMissingLines(loaded)
  if (reason !== undefined) {
    const notice = <Notice title={reason} />
    return loaded.isBinary ? <ImageSides diff={diff} change={loaded.change} notice={notice} /> : notice
  }
  return (
    <>
      <DiffView path={loaded.change.path} hunks={loaded.hunks} {...view} />
      {loaded.next !== null && (
        <button type="button" class="button more" disabled={diff.isLoadingMore.value} onClick={diff.loadMore}>
          Show more of {loaded.total} hunks
        </button>
      )}
    </>
  )
}

interface ImageSidesProps {
  readonly diff: LoadedDiff
  readonly change: WebChange
  /** Shown for a file that is no image. */
  readonly notice: VNode
}

/** Both versions of an image side by side; of a new or deleted one, the only version. */
function ImageSides({ diff: { from, to }, change, notice }: ImageSidesProps): VNode {
  const [hasOld, hasNew] = [change.kind !== 'added', change.kind !== 'deleted']
  return (
    <div class="image-sides">
      {hasOld && (
        <ImageView
          tree={from}
          path={change.from ?? change.path}
          label={`Before: ${formatBytes(change.oldSize)}`}
        >
          {hasNew ? null : notice}
        </ImageView>
      )}
      {hasNew && (
        <ImageView tree={to} path={change.path} label={`Now: ${formatBytes(change.newSize)}`}>
          {notice}
        </ImageView>
      )}
    </div>
  )
}

function explainMissingLines({ change, isBinary, isTooLarge, hunks }: WebFileDiff): string | undefined {
  const sizes = `${formatBytes(change.oldSize)} before, ${formatBytes(change.newSize)} now`
  if (isTooLarge) return `This file is too large for a comparison by lines: ${sizes}`
  if (isBinary) return `This file is not text: ${sizes}`
  if (hunks.length > 0) return undefined
  if (change.modes !== '') return `Only the permissions changed: ${change.modes}`
  if (change.type === 'directory') return `A directory was ${change.kind}`
  if (change.kind === 'renamed') return 'The file was renamed, and its content is the same'
  return change.oldSize + change.newSize === 0 ? 'The file is empty' : `No line changed: ${sizes}`
}
