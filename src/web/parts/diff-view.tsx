import type { ComponentChildren, VNode } from 'preact'
import { useMemo } from 'preact/hooks'
import type { WebHunk } from '../../web-api/index.ts'
import { CodeText } from './code-text.tsx'
import { type DiffRow, type HunkLine, listSplitRows, listUnifiedRows } from './diff-rows.ts'
import { VirtualList } from './virtual-list.tsx'
import { toVisible } from './visible-text.tsx'

/** Height of a row in pixels, as the style sheet has it. */
const ROW_HEIGHT = 20
/** Longer lines do not make the view wider; they end at its edge. */
const MAX_COLUMNS = 1000
const MIN_COLUMNS = 20

export interface DiffViewProps {
  readonly path: string
  readonly hunks: readonly WebHunk[]
  readonly isSplit: boolean
  /** The hunk that must be in view. */
  readonly activeHunk?: number | undefined
  /** Rendered at the end of the header of a hunk. */
  readonly renderControl?: (hunk: WebHunk) => ComponentChildren
  /** Hunks that are left out: they are shown, but faintly. */
  readonly leftOut?: ReadonlySet<number>
}

/** The changed lines of a file. Only the rows in view exist. */
export function DiffView(props: DiffViewProps): VNode {
  const { path, hunks, isSplit, activeHunk, leftOut } = props
  const rows = useMemo(() => listRows(hunks, isSplit), [hunks, isSplit])
  const columns = useMemo(() => measureColumns(hunks), [hunks])
  const active = activeHunk === undefined ? undefined : findHunkRow(rows, activeHunk)
  return (
    <div
      class={`diff ${isSplit ? 'split' : 'unified'}`}
      style={{ '--left': columns.left, '--right': columns.right }}
    >
      <VirtualList
        class="fill"
        role="table"
        label={`Changes of ${toVisible(path)}`}
        count={rows.length}
        rowHeight={ROW_HEIGHT}
        active={active}
        renderRow={(index) => {
          const row = rows[index]
          const hunk = row && hunks[row.hunk]
          if (row === undefined || hunk === undefined) return null
          if (row.kind === 'hunk')
            return (
              <HunkHeader key={index} rowIndex={index} hunk={hunk} isActive={hunk.index === activeHunk}>
                {props.renderControl?.(hunk)}
              </HunkHeader>
            )
          const isFaint = leftOut?.has(hunk.index) ?? false
          return <LineRow key={index} rowIndex={index} path={path} row={row} isFaint={isFaint} />
        }}
      />
    </div>
  )
}

interface HunkHeaderProps {
  readonly rowIndex: number
  readonly hunk: WebHunk
  readonly isActive: boolean
  readonly children: ComponentChildren
}

function HunkHeader({ rowIndex, hunk, isActive, children }: HunkHeaderProps): VNode {
  const { index, oldStart, oldCount, newStart, newCount, isCut } = hunk
  return (
    // biome-ignore lint/a11y: a row of a table of which only the rows in view exist
    <div class={`hunk-head ${isActive ? 'active' : ''}`} role="row" aria-rowindex={rowIndex + 1}>
      {/* biome-ignore lint/a11y: see above */}
      <div class="hunk-head-content" role="cell">
        {children}
        <span class="mono soft">
          hunk {index + 1}, {formatLines(newStart, newCount)}
          <span class="hidden-label">, formerly {formatLines(oldStart, oldCount)}</span>
          {isCut && ', too long: only the beginning of each side is shown'}
        </span>
      </div>
    </div>
  )
}

function formatLines(start: number, count: number): string {
  return count > 1 ? `lines ${start}–${start + count - 1}` : `line ${start}`
}

function LineRow({
  rowIndex,
  path,
  row,
  isFaint,
}: {
  readonly path: string
  readonly rowIndex: number
  readonly row: Exclude<DiffRow, { kind: 'hunk' }>
  readonly isFaint: boolean
}): VNode {
  return (
    // biome-ignore lint/a11y: a row of a table of which only the rows in view exist
    <div class={`diff-row ${isFaint ? 'faint' : ''}`} role="row" aria-rowindex={rowIndex + 1}>
      {row.kind === 'line' ? (
        <UnifiedCells line={row.line} path={path} />
      ) : (
        <>
          <SideCells path={path} line={row.left} number={row.left?.old ?? null} />
          <SideCells path={path} line={row.right} number={row.right?.new ?? null} />
        </>
      )}
    </div>
  )
}

const SIGNS = { context: ' ', added: '+', removed: '-' } as const
const SPOKEN = { context: '', added: 'added: ', removed: 'removed: ' } as const

function UnifiedCells({ line, path }: { readonly line: HunkLine; readonly path: string }): VNode {
  return (
    <>
      <Cell class={`number ${line.kind}`}>{line.old ?? ''}</Cell>
      <Cell class={`number ${line.kind}`}>{line.new ?? ''}</Cell>
      <Cell class={`code ${line.kind}`}>
        <LineText line={line} path={path} />
      </Cell>
    </>
  )
}

function SideCells({
  path,
  line,
  number,
}: {
  readonly path: string
  readonly line: HunkLine | undefined
  readonly number: number | null
}): VNode {
  const kind = line?.kind ?? 'absent'
  return (
    <>
      <Cell class={`number ${kind}`}>{number ?? ''}</Cell>
      <Cell class={`code ${kind}`}>{line && <LineText line={line} path={path} />}</Cell>
    </>
  )
}

function Cell({
  class: name,
  children,
}: {
  readonly class: string
  readonly children: ComponentChildren
}): VNode {
  return (
    // biome-ignore lint/a11y: a cell of a table of which only the rows in view exist
    <div class={name} role="cell">
      {children}
    </div>
  )
}

function LineText({ line, path }: { readonly line: HunkLine; readonly path: string }): VNode {
  return (
    <>
      <span class="sign" aria-hidden="true">
        {SIGNS[line.kind]}
      </span>
      {line.kind !== 'context' && <span class="hidden-label">{SPOKEN[line.kind]}</span>}
      <CodeText text={line.text} path={path} spans={line.spans} />
      {line.isCut && <span class="soft">… the line is longer</span>}
      {line.isOpen && (
        <span class="invisible" title="The last line has no newline">
          no newline
        </span>
      )}
    </>
  )
}

function listRows(hunks: readonly WebHunk[], isSplit: boolean): DiffRow[] {
  const lines = hunks.map((hunk) => hunk.lines)
  return isSplit ? listSplitRows(lines) : listUnifiedRows(lines)
}

function findHunkRow(rows: readonly DiffRow[], hunk: number): number {
  return rows.findIndex((row) => row.kind === 'hunk' && row.hunk === hunk)
}

/**
 * Measures the longest line of each side, so that the view keeps its width while it scrolls. A tab has four columns.
 */
function measureColumns(hunks: readonly WebHunk[]): { readonly left: string; readonly right: string } {
  const longest = { left: MIN_COLUMNS, right: MIN_COLUMNS }
  for (const { text, kind } of hunks.flatMap(({ lines }) => lines)) {
    const length = Math.min(MAX_COLUMNS, text.length + 3 * (text.split('\t').length - 1) + 3)
    if (kind !== 'added' && length > longest.left) longest.left = length
    if (kind !== 'removed' && length > longest.right) longest.right = length
  }
  return { left: `${longest.left}ch`, right: `${longest.right}ch` }
}
