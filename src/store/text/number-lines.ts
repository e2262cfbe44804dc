/** Two lists of lines as numbers: equal lines have equal numbers. */
export interface NumberedLines {
  readonly sides: { readonly old: Int32Array; readonly current: Int32Array }
  /** Number of distinct lines; each line's number is below it. */
  readonly distinctLines: number
}

export function numberLines(old: readonly string[], current: readonly string[]): NumberedLines {
  const numbers = new Map<string, number>()
  const toNumbers = (lines: readonly string[]) => {
    const result = new Int32Array(lines.length)
    for (const [index, line] of lines.entries()) {
      const number = numbers.get(line) ?? numbers.size
      if (number === numbers.size) numbers.set(line, number)
      result[index] = number
    }
    return result
  }
  const sides = { old: toNumbers(old), current: toNumbers(current) }
  return { sides, distinctLines: numbers.size }
}
