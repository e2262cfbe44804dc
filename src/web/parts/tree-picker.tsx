import type { VNode } from 'preact'
import type { TreeName, WebTree } from '../../web-api/index.ts'
import { trees } from '../client/home-state.ts'
import { formatTree, isFork } from '../routes.ts'
import { toVisible } from './visible-text.tsx'

export interface TreePickerProps {
  readonly label: string
  readonly value: TreeName
  /** True to offer the state that each fork began with. */
  readonly hasBases?: boolean
  readonly onPick: (tree: TreeName) => void
}

/** A choice of a tree of the home. A tree that is not in the list, such as a moment, stays as it is. */
export function TreePicker({ label, value, hasBases = false, onPick }: TreePickerProps): VNode {
  const options = trees.value.flatMap((tree) => listOptions(tree, hasBases))
  const isKnown = options.some(({ tree }) => tree === value)
  return (
    <select
      class="field tree-picker"
      aria-label={label}
      value={value}
      onChange={(event) => onPick(event.currentTarget.value)}
    >
      {value === '' && <option value="">choose…</option>}
      {value !== '' && !isKnown && <option value={value}>{toVisible(formatTree(value))}</option>}
      {options.map(({ tree, text }) => (
        <option key={tree} value={tree}>
          {toVisible(text)}
        </option>
      ))}
    </select>
  )
}

function listOptions(listed: WebTree, hasBases: boolean): { tree: TreeName; text: string }[] {
  const { tree, name } = listed
  const kind = isFork(listed) ? 'fork' : listed.kind
  const own = { tree, text: `${kind} ${name}` }
  return hasBases && kind === 'fork' ? [own, { tree: `${tree}^`, text: `fork ${name} as it began` }] : [own]
}
