import type { VNode } from 'preact'
import { parseTreeRef, type TreeName } from '../../../web-api/index.ts'
import { isLoaded, trees } from '../../client/home-state.ts'
import { Command, Notice } from '../../parts/notice.tsx'
import { ReadingHome } from '../../parts/reading-home.tsx'
import { useThrottled } from '../../parts/throttle.ts'
import { TreePicker } from '../../parts/tree-picker.tsx'
import { navigate, route, updateQuery } from '../../router.ts'
import { formatFilesRoute } from '../../routes.ts'
import { FileTree } from './file-tree.tsx'
import { FileView } from './file-view.tsx'
import { Moments } from './moments.tsx'
import { SearchForm, SearchResults } from './search.tsx'

const READ_MS = 80

/** The files of a tree at any moment: a slider over its history, the directories, and one file. */
export function FilesScreen(): VNode {
  const tree = route.value.query.get('tree') ?? trees.value[0]?.tree
  if (tree !== undefined) return <TreeFiles key={tree} tree={tree} />
  if (!isLoaded.value) return <ReadingHome />
  return (
    <div class="page">
      <Notice title="There are no files yet">
        <p>Run a command on a fork of a directory, or import one into a vault:</p>
        <Command text="coppice import ~/shop --vault base" />
      </Notice>
    </div>
  )
}

function TreeFiles({ tree }: { readonly tree: TreeName }): VNode {
  const { query } = route.value
  const at = query.get('at') ?? ''
  // The slider moves with every frame; files follow as fast as they can be read.
  const readAt = useThrottled(at, READ_MS)
  const path = query.get('path') ?? '/'
  const shown = `${tree}${readAt}`
  const search = query.get('search') ?? ''
  const hasHistory = parseTreeRef(tree)?.kind !== 'directory'
  const isKnown = parseTreeRef(shown) !== undefined
  return (
    <div class="work">
      <header class="work-head">
        <h1 class="hidden-label">Files</h1>
        <TreePicker label="Files of" value={tree} onPick={(picked) => navigate(formatFilesRoute(picked))} />
        <SearchForm text={search} onSearch={(text) => updateQuery({ search: text })} />
      </header>
      {hasHistory && <Moments tree={tree} at={at} />}
      {isKnown ? (
        <div class="work-columns">
          <aside class="side" aria-label="Directories">
            <FileTree tree={shown} path={path} onOpen={openFile} />
          </aside>
          {search === '' ? (
            <FileView tree={tree} at={readAt} path={path} />
          ) : (
            <SearchResults key={`${shown} ${search}`} tree={shown} text={search} />
          )}
        </div>
      ) : (
        <div class="page">
          <Notice title="No tree has this name" tone="bad">
            <a href="/">All files and forks</a>
          </Notice>
        </div>
      )}
    </div>
  )
}

function openFile(path: string): void {
  updateQuery({ path, search: undefined, line: undefined })
}
