import type { VNode } from 'preact'
import { parseTreeRef, type TreeName } from '../../../web-api/index.ts'
import { Notice } from '../../parts/notice.tsx'
import { VisiblePath } from '../../parts/visible-text.tsx'
import { route, updateQuery } from '../../router.ts'
import { BlameView } from './blame-view.tsx'
import { ContentView } from './content-view.tsx'
import { Timeline } from './timeline.tsx'
import { VersionList } from './version-list.tsx'

export interface FileViewProps {
  readonly tree: TreeName
  /** The moment as a suffix of the tree; empty for now. */
  readonly at: string
  readonly path: string
}

const CHOOSE_FILE = 'Choose a file'
const VIEWS = [
  { name: '', label: 'Content' },
  { name: 'blame', label: 'Blame' },
  { name: 'versions', label: 'Versions' },
] as const

/** One file: its content, who wrote each line, and its versions. */
export function FileView({ tree, at, path }: FileViewProps): VNode {
  const view = route.value.query.get('view') ?? ''
  const shown = `${tree}${at}`
  const ref = parseTreeRef(tree)
  const isDirectory = ref?.kind === 'directory'
  if (path === '/') {
    return (
      <section class="file" aria-label="No file">
        {isDirectory ? (
          <Timeline directory={ref.path} emptyTitle={CHOOSE_FILE} />
        ) : (
          <Notice title={CHOOSE_FILE} />
        )}
      </section>
    )
  }
  return (
    <section class="file" aria-label="File">
      <header class="file-head">
        <h2 class="mono">
          <VisiblePath path={path} />
        </h2>
        {!isDirectory && (
          // biome-ignore lint/a11y/useSemanticElements: buttons are no fields of a form
          <div class="switch push-end" role="group" aria-label="View">
            {VIEWS.map(({ name, label }) => (
              <button
                key={name}
                type="button"
                class="button small"
                aria-pressed={view === name}
                onClick={() => updateQuery({ view: name })}
              >
                {label}
              </button>
            ))}
          </div>
        )}
      </header>
      {view === 'blame' && !isDirectory ? (
        <BlameView key={path} tree={shown} path={path} />
      ) : view === 'versions' && !isDirectory ? (
        <VersionList key={path} tree={tree} path={path} />
      ) : (
        <ContentView key={path} tree={shown} path={path} />
      )}
    </section>
  )
}
