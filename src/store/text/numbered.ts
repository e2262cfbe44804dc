/** Two lists of lines as numbers: equal lines have the same one. */
export interface Numbered {
  readonly sides: { readonly old: Int32Array; readonly now: Int32Array }
  /** How many different lines there are; each number is below. */
  readonly kinds: number
}

export function numbered(old: readonly string[], now: readonly string[]): Numbered {
  const numbers = new Map<string, number>()
  const numbersOf = (lines: readonly string[]) => {
    const result = new Int32Array(lines.length)
    for (const [at, line] of lines.entries()) {
      const number = numbers.get(line) ?? numbers.size
      if (number === numbers.size) numbers.set(line, number)
      result[at] = number
    }
    return result
  }
  const sides = { old: numbersOf(old), now: numbersOf(now) }
  return { sides, kinds: numbers.size }
}
