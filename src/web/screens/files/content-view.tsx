import type { ComponentChildren, VNode } from 'preact'
import { useMemo } from 'preact/hooks'
import type { TreeName, WebContent } from '../../../web-api/index.ts'
import { call } from '../../client/api.ts'
import { useReload } from '../../client/live.ts'
import { useAction } from '../../parts/action.ts'
import { formatBytes } from '../../parts/format.ts'
import { ImageView } from '../../parts/image-view.tsx'
import { Notice } from '../../parts/notice.tsx'
import { useResource } from '../../parts/resource.ts'
import { toVisible } from '../../parts/visible-text.tsx'
import { route } from '../../router.ts'
import { CodeLines } from './code-lines.tsx'
import { useLatest } from './latest.ts'

/** The content of a file. Of a long one, a part is read first, and another one at each click. */
export function ContentView({ tree, path }: { readonly tree: TreeName; readonly path: string }): VNode {
  const content = useResource(`${tree} ${path}`, (signal) => call('readFile', { tree, path }, signal))
  useReload((event) => event.type === 'journal' && event.tree === tree, content.reload)
  const loaded = useLatest(content.value.value)
  const error = content.error.value
  const more = useAction(
    () => call('readFile', { tree, path, offset: loaded?.next ?? 0 }),
    (part) => {
      const now = content.value.value
      if (now !== undefined) content.value.value = { ...part, text: now.text + part.text, offset: 0 }
    },
  )
  const lines = useMemo(() => splitLines(loaded?.text ?? ''), [loaded?.text])
  if (error !== undefined)
    return (
      <Notice title="The file is not there at this moment">
        <p>{error.message}</p>
      </Notice>
    )
  if (loaded === undefined) return <p class="soft pad">Reading…</p>
  const problem = explainMissingText(loaded)
  if (problem !== undefined) {
    const notice = <Notice title={problem} />
    if (!loaded.isBinary) return notice
    return (
      <ImageView tree={tree} path={path} label={formatBytes(loaded.size)}>
        {notice}
      </ImageView>
    )
  }
  const line = Number(route.value.query.get('line') ?? 0)
  return (
    <>
      <CodeLines
        path={path}
        label={`Content of ${toVisible(path)}`}
        lines={lines}
        {...(line > 0 && { active: line - 1 })}
      />
      <FileFoot content={loaded}>
        {loaded.next !== null && (
          <button type="button" class="button small" disabled={more.isRunning} onClick={more.run}>
            Show more
          </button>
        )}
        {more.error && <span class="bad-text">{more.error.message}</span>}
      </FileFoot>
    </>
  )
}

function FileFoot({
  content,
  children,
}: {
  readonly content: WebContent
  readonly children: ComponentChildren
}): VNode {
  return (
    <footer class="file-foot soft">
      <span>{formatBytes(content.size)}</span>
      {content.isRedacted && <span class="warn-text">secrets are taken out</span>}
      {content.next !== null && <span>shown up to byte {content.next.toLocaleString('en')}</span>}
      {children}
    </footer>
  )
}

function explainMissingText({ type, isBinary, size }: WebContent): string | undefined {
  if (type === 'directory') return 'This is a directory: open a file in it'
  if (type === 'other') return 'This is neither a file nor a directory'
  return isBinary ? `This file is not text: ${formatBytes(size)}` : undefined
}

function splitLines(text: string): string[] {
  const lines = text.split('\n')
  if (lines.at(-1) === '') lines.pop()
  return lines
}
