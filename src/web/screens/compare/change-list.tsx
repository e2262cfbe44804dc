import type { VNode } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import type { WebChange } from '../../../web-api/index.ts'
import { formatShort } from '../../parts/format.ts'
import { VirtualList } from '../../parts/virtual-list.tsx'
import { toVisible, VisiblePath } from '../../parts/visible-text.tsx'
import { type Decisions, describeDecision } from './selection.ts'

const ROW_HEIGHT = 30

export interface ChangeListProps {
  readonly changes: readonly WebChange[]
  readonly selected: number
  readonly decisions: Decisions
  /** True where changes can be kept or left out. */
  readonly canDecide: boolean
  readonly isViewed: (path: string) => boolean
  readonly onSelect: (path: string) => void
  readonly onToggle: (path: string) => void
}

/** The changed files of a comparison. */
export function ChangeList(props: ChangeListProps): VNode {
  const { changes, selected } = props
  return (
    <VirtualList
      class="fill"
      label="Changed files"
      count={changes.length}
      rowHeight={ROW_HEIGHT}
      active={selected}
      renderRow={(index) => {
        const change = changes[index]
        return change && <ChangeRow key={change.path} {...props} change={change} index={index} />
      }}
    />
  )
}

/** Names of what is no file. */
export const TYPES = {
  file: '',
  directory: 'directory',
  symlink: 'symbolic link',
  other: 'special file',
} as const

const LETTERS = { added: 'A', modified: 'M', deleted: 'D', renamed: 'R' } as const

function ChangeRow(props: ChangeListProps & { readonly change: WebChange; readonly index: number }): VNode {
  const { change, index, selected, decisions, canDecide, isViewed, onSelect, onToggle, changes } = props
  const { path, kind, lines } = change
  const kept = describeDecision(decisions.get(path))
  const isSeen = isViewed(path)
  const name = path.slice(path.lastIndexOf('/') + 1)
  const folder = path.slice(1, path.length - name.length)
  return (
    <li
      class={`change-row ${index === selected ? 'active' : ''} ${isSeen ? 'seen' : ''}`}
      aria-setsize={changes.length}
      aria-posinset={index + 1}
    >
      {canDecide && <KeepBox label={`Keep ${toVisible(path)}`} kept={kept} onToggle={() => onToggle(path)} />}
      <button
        type="button"
        class="change-name"
        aria-current={index === selected ? 'true' : undefined}
        title={toVisible(path)}
        onClick={() => onSelect(path)}
      >
        <span class={`letter ${kind}`} aria-hidden="true">
          {LETTERS[kind]}
        </span>
        <span class="hidden-label">{kind} </span>
        <span class="change-path">
          <VisiblePath path={name} />{' '}
          <span class="soft">
            <VisiblePath path={folder} /> {TYPES[change.type]}
          </span>
        </span>
        {isSeen && <span class="hidden-label">, viewed</span>}
        {lines && (
          <span class="counts">
            {lines.added > 0 && <span class="plus">+{formatShort(lines.added)}</span>}
            {lines.removed > 0 && <span class="minus">−{formatShort(lines.removed)}</span>}
          </span>
        )}
      </button>
    </li>
  )
}

interface KeepBoxProps {
  readonly label: string
  readonly kept: 'all' | 'some' | 'none'
  /** Text beside the box; only the label for a screen reader when absent. */
  readonly text?: string
  readonly onToggle: () => void
}

/** A checkbox with a third state for a part. */
export function KeepBox({ label, kept, text, onToggle }: KeepBoxProps): VNode {
  const box = useRef<HTMLInputElement>(null)
  useEffect(() => {
    if (box.current !== null) box.current.indeterminate = kept === 'some'
  }, [kept])
  return (
    <label class="keep" title={label}>
      <input ref={box} type="checkbox" aria-label={label} checked={kept === 'all'} onChange={onToggle} />
      {text}
    </label>
  )
}
