const COLUMN_GAP = '  '

/** Characters two columns wide: East Asian letters and emoji. */
const WIDE_CHARACTER =
  /^(?:\p{Script=Han}|\p{Script=Hangul}|\p{Script=Hiragana}|\p{Script=Katakana}|\p{Emoji_Presentation}|[\u3001-\u303e\uff01-\uff60])|\ufe0f$/u

/** Formats rows with aligned columns. */
export function formatTable(rows: readonly (readonly string[])[]): string[] {
  const widths: number[] = []
  for (const row of rows) {
    for (const [column, cell] of row.entries()) {
      widths[column] = Math.max(widths[column] ?? 0, getDisplayWidth(cell))
    }
  }
  return rows.map((row) =>
    row
      .map((cell, column) => cell + ' '.repeat((widths[column] ?? 0) - getDisplayWidth(cell)))
      .join(COLUMN_GAP)
      .trimEnd(),
  )
}

/** Returns the width of a text in terminal columns. */
export function getDisplayWidth(text: string): number {
  if (/^[ -~]*$/.test(text)) return text.length
  let columns = 0
  for (const { segment } of new Intl.Segmenter().segment(text))
    columns += WIDE_CHARACTER.test(segment) ? 2 : 1
  return columns
}
