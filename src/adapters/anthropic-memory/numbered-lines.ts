/** What the tool can count to, and as wide as its line numbers are. */
export const MAX_LINES = 999_999
const NUMBER_WIDTH = 6

/** Lines as the model sees them: a number, a tab, the line. */
export function formatNumberedLines(lines: readonly string[], first: number): string {
  return lines.map((line, index) => `${String(first + index).padStart(NUMBER_WIDTH)}\t${line}`).join('\n')
}
