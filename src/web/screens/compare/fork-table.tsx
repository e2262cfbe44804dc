import type { VNode } from 'preact'
import type { TreeName } from '../../../web-api/index.ts'
import { call } from '../../client/api.ts'
import { trees } from '../../client/home-state.ts'
import { useReload } from '../../client/live.ts'
import { formatAge, formatCount } from '../../parts/format.ts'
import { Notice } from '../../parts/notice.tsx'
import { useResource } from '../../parts/resource.ts'
import { VisiblePath, VisibleText } from '../../parts/visible-text.tsx'
import { formatCompareRoute, formatPairRoute, formatTree, isFork } from '../../routes.ts'

const MAX_FORKS = 200
const MAX_OVERLAPS = 100

/** All forks by what they were made from, and the files that several of them change. */
export function ForkTable(): VNode {
  const forks = Map.groupBy(trees.value.filter(isFork), ({ parent }) => parent ?? '')
  return (
    <>
      {[...forks].map(([parent, children]) => (
        <section class="section" key={parent}>
          <h2>
            <VisibleText text={formatTree(parent) || 'Forks'} />
          </h2>
          <ul class="panel">
            {children.slice(0, MAX_FORKS).map((fork) => (
              <li class="row row-line" key={fork.tree}>
                <a class="row-name" href={formatCompareRoute(fork)}>
                  <VisibleText text={fork.name} />
                </a>
                <span class="soft">
                  {fork.changes === null ? 'many changes' : formatCount(fork.changes, 'change')}
                </span>
                <span class="row-end soft">{fork.time !== null && formatAge(fork.time)}</span>
              </li>
            ))}
          </ul>
          {parent !== '' && children.length > 1 && <Overlap tree={parent} />}
        </section>
      ))}
    </>
  )
}

/** Files that several forks of one tree change: where a second merge will meet the first. */
function Overlap({ tree }: { readonly tree: TreeName }): VNode | null {
  const overlap = useResource(tree, (signal) => call('listOverlap', { tree, limit: MAX_OVERLAPS }, signal))
  useReload(({ type }) => type === 'journal' || type === 'trees', overlap.reload)
  const { items: found, total } = overlap.value.value ?? {}
  if (overlap.error.value !== undefined) return <Notice title={overlap.error.value.message} tone="bad" />
  if (found === undefined || found.length === 0) return null
  return (
    <details>
      <summary>{formatCount(total ?? found.length, 'file')} changed by several forks</summary>
      <ul class="panel overlap">
        {found.map(({ path, trees: forks }) => (
          <li class="row" key={path}>
            <code>
              <VisiblePath path={path} />
            </code>{' '}
            {forks.map((fork) => (
              <a key={fork} href={formatPairRoute(`${fork}^`, fork, path)}>
                <VisibleText text={formatTree(fork)} />{' '}
              </a>
            ))}
          </li>
        ))}
      </ul>
    </details>
  )
}
