import type { VNode } from 'preact'
import type { WebTree } from '../../../web-api/index.ts'
import { trees } from '../../client/home-state.ts'
import { formatAge, formatCount } from '../../parts/format.ts'
import { Command, Notice } from '../../parts/notice.tsx'
import { Tag } from '../../parts/tag.tsx'
import { VirtualList } from '../../parts/virtual-list.tsx'
import { toVisible, VisibleText } from '../../parts/visible-text.tsx'
import { formatCompareRoute, formatFilesRoute, formatProcessRoute, isFork } from '../../routes.ts'
import { type ForestRow, listForest } from './forest.ts'

const ROW_HEIGHT = 48
const MAX_HEIGHT = 640

/** Directories and vaults with their forks below them. */
export function TreeList(): VNode {
  const rows = listForest(trees.value)
  const forks = rows.filter(({ tree }) => isFork(tree)).length
  return (
    <section class="section" aria-labelledby="trees-title">
      <header>
        <h2 id="trees-title">Files and forks</h2>
        <span class="soft">{rows.length > 0 && formatCount(forks, 'fork')}</span>
      </header>
      {rows.length === 0 ? (
        <Notice title="No directory has a fork, and there is no vault">
          <p>Run any command on a fork of a directory:</p>
          <Command text="coppice exec -- npm test" />
        </Notice>
      ) : (
        <div class="panel" style={{ height: `${Math.min(rows.length * ROW_HEIGHT, MAX_HEIGHT) + 2}px` }}>
          <VirtualList
            class="fill"
            label="Files and forks"
            count={rows.length}
            rowHeight={ROW_HEIGHT}
            renderRow={(index) => {
              const row = rows[index]
              return row && <TreeRow key={row.tree.tree} row={row} index={index} count={rows.length} />
            }}
          />
        </div>
      )}
    </section>
  )
}

interface TreeRowProps {
  readonly row: ForestRow
  readonly index: number
  readonly count: number
}

function TreeRow({ row: { tree, depth }, index, count }: TreeRowProps): VNode {
  return (
    <li
      class="row tree-row"
      aria-setsize={count}
      aria-posinset={index + 1}
      style={{ paddingLeft: `calc(var(--s3) + ${Math.min(depth, 6)} * var(--s4))` }}
    >
      <div class="row-line">
        {depth > 0 && (
          <span class="branch" aria-hidden="true">
            └
          </span>
        )}
        <a
          class="row-name"
          href={isFork(tree) ? formatCompareRoute(tree) : formatFilesRoute(tree.tree)}
          title={toVisible(tree.name)}
        >
          <VisibleText text={tree.name} />
        </a>
        <TreeTags tree={tree} />
        <span class="row-end soft">
          <a href={formatFilesRoute(tree.tree)} aria-label={`Files of ${toVisible(tree.name)}`}>
            files
          </a>
        </span>
      </div>
      <div class="row-line soft small">
        <span class="row-cut">
          <TreeState tree={tree} />
        </span>
      </div>
    </li>
  )
}

/** Lists the commands of a tree. A process is among them by its number, and is shown as a process. */
function listCommands({ commands, pids }: WebTree): WebTree['commands'] {
  return commands.filter(({ command }) => !pids.some((pid) => command === `process ${pid}`))
}

function TreeTags({ tree }: { readonly tree: WebTree }): VNode {
  const commands = listCommands(tree)
  return (
    <>
      {tree.pids.length > 0 && <Tag tone="live">{formatCount(tree.pids.length, 'agent')}</Tag>}
      {commands.length > 0 && <Tag tone="live">{formatCount(commands.length, 'command')}</Tag>}
      {tree.changes !== null && tree.changes > 0 && (
        <Tag tone="good">{formatCount(tree.changes, 'change')}</Tag>
      )}
      {tree.changes === null && isFork(tree) && <Tag tone="good">many changes</Tag>}
    </>
  )
}

function TreeState({ tree }: { readonly tree: WebTree }): VNode {
  const [command] = listCommands(tree)
  return (
    <>
      {isFork(tree) ? 'fork' : tree.kind}
      {tree.time !== null && ` · ${formatAge(tree.time)}`}
      {tree.changes === 0 && ' · no changes'}
      {tree.checkpoints > 0 && ` · ${formatCount(tree.checkpoints, 'checkpoint')}`}
      {tree.pids.map((pid) => (
        <span key={pid}>
          {' · '}
          <a href={formatProcessRoute(pid)}>process {pid}</a>
        </span>
      ))}
      {tree.ports.map(({ port, url }) => (
        <span key={port}>
          {' · '}
          {/^http:\/\/[\w.-]+(?::\d+)?\/?$/.test(url) ? (
            <a href={url} target="_blank" rel="noreferrer noopener">
              {url}
            </a>
          ) : (
            toVisible(url)
          )}
        </span>
      ))}
      {command && (
        <>
          {' · '}
          <code>
            <VisibleText text={command.command} />
          </code>
        </>
      )}
    </>
  )
}
