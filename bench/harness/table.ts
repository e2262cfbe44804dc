import { styleText } from 'node:util'

/** One cell; `style` shows on a terminal only. */
export interface Cell {
  readonly text: string
  readonly align: 'left' | 'right'
  readonly style?: 'bold' | 'dim' | 'green' | 'red'
}

const GAP = '  '

/** Rows of cells as lines, every column as wide as its widest cell. */
export function renderTable(rows: readonly (readonly Cell[])[]): string {
  const widths: number[] = []
  for (const row of rows) {
    for (const [column, { text }] of row.entries()) {
      widths[column] = Math.max(widths[column] ?? 0, text.length)
    }
  }
  return rows.map((row) => renderRow(row, widths)).join('\n')
}

/** Colours a text for a terminal. In a pipe, and with NO_COLOR, it stays plain. */
export function applyStyle(style: Cell['style'], text: string): string {
  return style === undefined ? text : styleText(style, text, { stream: process.stdout })
}

function renderRow(row: readonly Cell[], widths: readonly number[]): string {
  const cells = row.map(({ text, align, style }, column) => {
    const width = widths[column] ?? 0
    return applyStyle(style, align === 'left' ? text.padEnd(width) : text.padStart(width))
  })
  return cells.join(GAP).trimEnd()
}
