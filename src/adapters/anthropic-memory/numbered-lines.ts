/** Largest line number that fits the column of the tool. */
export const MAX_LINES = 999_999
const NUMBER_WIDTH = 6

/** Formats lines for the model: a number, a tab, the line. */
export function formatNumberedLines(lines: readonly string[], first: number): string {
  return lines.map((line, index) => `${String(first + index).padStart(NUMBER_WIDTH)}\t${line}`).join('\n')
}
