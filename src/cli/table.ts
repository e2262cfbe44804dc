const GAP = '  '

/** What a terminal shows in two columns: letters of East Asia, and pictures. */
const WIDE =
  /^(?:\p{Script=Han}|\p{Script=Hangul}|\p{Script=Hiragana}|\p{Script=Katakana}|\p{Emoji_Presentation}|[\u3001-\u303e\uff01-\uff60])|\ufe0f$/u

/** Rows with their columns one below another. */
export function table(rows: readonly (readonly string[])[]): string[] {
  const widths: number[] = []
  for (const row of rows) {
    for (const [column, cell] of row.entries()) {
      widths[column] = Math.max(widths[column] ?? 0, columnsOf(cell))
    }
  }
  return rows.map((row) =>
    row
      .map((cell, column) => cell + ' '.repeat((widths[column] ?? 0) - columnsOf(cell)))
      .join(GAP)
      .trimEnd(),
  )
}

/** How many columns of a terminal a text takes. */
export function columnsOf(text: string): number {
  if (/^[ -~]*$/.test(text)) return text.length
  let columns = 0
  for (const { segment } of new Intl.Segmenter().segment(text)) columns += WIDE.test(segment) ? 2 : 1
  return columns
}
