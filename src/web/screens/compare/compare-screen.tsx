import type { VNode } from 'preact'
import { isLoaded, trees } from '../../client/home-state.ts'
import { Command, Notice } from '../../parts/notice.tsx'
import { ReadingHome } from '../../parts/reading-home.tsx'
import { TreePicker } from '../../parts/tree-picker.tsx'
import { formatRoute, navigate, route } from '../../router.ts'
import { isFork } from '../../routes.ts'
import { Comparison } from './comparison.tsx'
import { ForkTable } from './fork-table.tsx'

/** Two trees and what differs between them. Without both, a choice of them. */
export function CompareScreen(): VNode {
  const { query } = route.value
  const [from, to] = [query.get('from') ?? '', query.get('to') ?? '']
  const pick = (values: { from?: string; to?: string }) =>
    navigate(formatRoute('compare', { from, to, ...suggestInto(values.to ?? to), ...values }))
  return (
    <div class="work">
      <header class="work-head">
        <h1 class="hidden-label">Compare</h1>
        <div class="pair">
          <TreePicker label="From" hasBases value={from} onPick={(tree) => pick({ from: tree })} />
          <span aria-hidden="true">→</span>
          <TreePicker label="To" hasBases value={to} onPick={(tree) => pick(pairWithBase(tree, from))} />
        </div>
      </header>
      {from === '' || to === '' ? <Choose /> : <Comparison key={`${from} ${to}`} from={from} to={to} />}
    </div>
  )
}

function Choose(): VNode {
  if (!isLoaded.value) return <ReadingHome />
  const isEmpty = !trees.value.some(isFork)
  return (
    <div class="page">
      {isEmpty ? (
        <Notice title="There is no fork to compare yet">
          <p>Run a command or an agent on a fork of a directory:</p>
          <Command text="coppice exec -- ./migrate.sh" />
        </Notice>
      ) : (
        <ForkTable />
      )}
    </div>
  )
}

/**
 * Returns the pair for a picked tree: for a fork, its changes since it began, unless another side is chosen already.
 */
function pairWithBase(tree: string, from: string): { from?: string; to: string } {
  const hasBase = trees.value.some((listed) => listed.tree === tree && isFork(listed))
  return hasBase && from === '' ? { from: `${tree}^`, to: tree } : { to: tree }
}

function suggestInto(to: string): { into?: string } {
  const parent = trees.value.find(({ tree }) => tree === to)?.parent
  return parent == null ? {} : { into: parent }
}
