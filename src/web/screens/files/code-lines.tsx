import type { ComponentChildren, VNode } from 'preact'
import { CodeText } from '../../parts/code-text.tsx'
import { VirtualList } from '../../parts/virtual-list.tsx'

const ROW_HEIGHT = 20

export interface CodeLinesProps {
  readonly path: string
  readonly label: string
  readonly lines: readonly string[]
  readonly active?: number
  /** Rendered before the number of a line. */
  readonly renderMargin?: (index: number) => ComponentChildren
}

/** Lines of code with numbers and colours. Only those in view exist. */
export function CodeLines({ path, label, lines, active, renderMargin }: CodeLinesProps): VNode {
  return (
    <div class="code-lines">
      <VirtualList
        class="fill"
        label={label}
        count={lines.length}
        rowHeight={ROW_HEIGHT}
        active={active}
        renderRow={(index) => (
          <li class={`code-line ${index === active ? 'active' : ''}`} key={index}>
            {renderMargin?.(index)}
            <span class="number" aria-hidden="true">
              {index + 1}
            </span>
            <code>
              <CodeText text={lines[index] ?? ''} path={path} />
            </code>
          </li>
        )}
      />
    </div>
  )
}
