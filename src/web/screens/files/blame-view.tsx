import type { VNode } from 'preact'
import { useMemo } from 'preact/hooks'
import type { TreeName, WebBlameLine } from '../../../web-api/index.ts'
import { call } from '../../client/api.ts'
import { useReload } from '../../client/live.ts'
import { readPages } from '../../client/pages.ts'
import { formatAuthor, pickColour } from '../../parts/author.ts'
import { formatAge } from '../../parts/format.ts'
import { Notice } from '../../parts/notice.tsx'
import { useResource } from '../../parts/resource.ts'
import { toVisible, VisibleText } from '../../parts/visible-text.tsx'
import { updateQuery } from '../../router.ts'
import { formatProcessRoute } from '../../routes.ts'
import { CodeLines } from './code-lines.tsx'
import { useLatest } from './latest.ts'

const MAX_LINES = 20_000

/** Each line with its author. A line of a process opens the step that wrote it; any other, the moment. */
export function BlameView({ tree, path }: { readonly tree: TreeName; readonly path: string }): VNode {
  const blame = useResource(`${tree} ${path}`, (signal) =>
    readPages((page) => call('listBlame', { tree, path, ...page }, signal), { maxItems: MAX_LINES }),
  )
  useReload((event) => event.type === 'journal' && event.tree === tree, blame.reload)
  const lines = useLatest(blame.value.value)
  const texts = useMemo(() => lines?.map(({ text }) => text) ?? [], [lines])
  if (blame.error.value) return <Notice title={blame.error.value.message} tone="bad" />
  if (lines === undefined) return <p class="soft pad">Reading…</p>
  if (lines.length === 0) return <Notice title="The file has no lines" />
  return (
    <CodeLines
      path={path}
      label={`Authors of ${toVisible(path)}`}
      lines={texts}
      renderMargin={(index) => {
        const line = lines[index]
        return line && <Author line={line} isRepeated={lines[index - 1]?.seq === line.seq} />
      }}
    />
  )
}

function Author({ line, isRepeated }: { readonly line: WebBlameLine; readonly isRepeated: boolean }): VNode {
  const { author, seq, time } = line
  const text = (
    <>
      <span class={`dot author-${pickColour(author)}`} aria-hidden="true" />
      <span class={isRepeated ? 'hidden-label' : 'row-cut'}>
        <VisibleText text={formatAuthor(author)} /> <span class="soft">{formatAge(time)}</span>
      </span>
    </>
  )
  if (author.pid !== null)
    return (
      <a class="blame" href={formatProcessRoute(author.pid, author.step ?? undefined)}>
        {text}
      </a>
    )
  return (
    <button type="button" class="blame link" onClick={() => updateQuery({ at: `~${seq}` })}>
      {text}
    </button>
  )
}
