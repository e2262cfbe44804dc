import type { ComponentChildren, VNode } from 'preact'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { findVisibleRange } from './visible-range.ts'

export interface VirtualListProps {
  readonly count: number
  /** Height of every row in pixels. */
  readonly rowHeight: number
  readonly label: string
  readonly role?: 'list' | 'table'
  readonly class?: string
  /** The row that must be in view whenever it changes. */
  readonly active?: number | undefined
  /** Called with the rows that are in view, so that more of them can be loaded. */
  readonly onRange?: (first: number, end: number) => void
  readonly renderRow: (index: number) => ComponentChildren
}

/** A list that has elements only for the rows in view: ten thousand rows cost as much as fifty. */
export function VirtualList(props: VirtualListProps): VNode {
  const { count, rowHeight, label, role = 'list', active, onRange, renderRow } = props
  const box = useRef<HTMLDivElement>(null)
  const [view, setView] = useState({ top: 0, height: 600 })
  useLayoutEffect(() => watchView(box.current, setView), [])
  useLayoutEffect(() => {
    if (active !== undefined && active >= 0) scrollToRow(box.current, active, rowHeight)
  }, [active, rowHeight])
  const { first, end } = findVisibleRange(view.top, view.height, rowHeight, count)
  useEffect(() => onRange?.(first, end), [onRange, first, end])
  const rows: ComponentChildren[] = []
  for (let index = first; index < end; index++) rows.push(renderRow(index))
  const shape = {
    class: 'virtual-rows',
    'aria-label': label,
    style: { height: `${count * rowHeight}px`, paddingTop: `${first * rowHeight}px` },
  }
  return (
    // biome-ignore lint/a11y: what scrolls must be reachable by keyboard, and is no landmark
    <div class={`virtual ${props.class ?? ''}`} ref={box} tabIndex={0} role="group" aria-label={label}>
      {role === 'list' ? (
        <ul {...shape}>{rows}</ul>
      ) : (
        // biome-ignore lint/a11y/useSemanticElements: a table of which only the rows in view exist
        <div {...shape} role="table" aria-rowcount={count}>
          {rows}
        </div>
      )}
    </div>
  )
}

function watchView(
  box: HTMLElement | null,
  setView: (view: { top: number; height: number }) => void,
): (() => void) | undefined {
  if (box === null) return undefined
  const update = () => {
    box.style.setProperty('--scrolled', `${box.scrollLeft}px`)
    setView({ top: box.scrollTop, height: box.clientHeight })
  }
  const observer = new ResizeObserver(update)
  observer.observe(box)
  box.addEventListener('scroll', update, { passive: true })
  update()
  return () => {
    observer.disconnect()
    box.removeEventListener('scroll', update)
  }
}

function scrollToRow(box: HTMLElement | null, index: number, rowHeight: number): void {
  if (box === null) return
  const top = index * rowHeight
  if (top < box.scrollTop) box.scrollTop = top - rowHeight
  else if (top + rowHeight * 2 > box.scrollTop + box.clientHeight)
    box.scrollTop = top - box.clientHeight + rowHeight * 2
}
