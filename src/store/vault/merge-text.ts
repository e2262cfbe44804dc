import { diff3Merge } from 'node-diff3'

/** How far into a file a NUL byte marks it as binary. */
const BINARY_PROBE_BYTES = 8000

export interface MergedText {
  readonly text: string
  readonly hasConflict: boolean
}

/** Names for the three sides in conflict markers. */
export interface SideNames {
  readonly ours: string
  readonly theirs: string
}

/** Three versions of a text merged by lines; where both sides changed the same lines, both stand between markers. */
export function mergeText(base: string, ours: string, theirs: string, names: SideNames): MergedText {
  const lines = new Lines()
  const regions = diff3Merge(lines.numbersOf(ours), lines.numbersOf(base), lines.numbersOf(theirs), {
    excludeFalseConflicts: true,
  })
  const hasConflict = regions.some(({ conflict }) => conflict !== undefined)
  const merged = regions.flatMap(({ ok, conflict }) => {
    if (conflict === undefined) return lines.textsOf(ok ?? [])
    return [
      `<<<<<<< ${names.ours}`,
      ...lines.textsOf(conflict.a),
      '=======',
      ...lines.textsOf(conflict.b),
      `>>>>>>> ${names.theirs}`,
    ]
  })
  return { text: merged.join('\n'), hasConflict }
}

export function isText(bytes: Uint8Array): boolean {
  return !bytes.subarray(0, BINARY_PROBE_BYTES).includes(0)
}

/**
 * Lines as numbers, each text one number. The merge compares nothing else, and keeps them as keys of a plain object,
 * where a line such as `constructor` would mean something.
 */
class Lines {
  readonly #numbers = new Map<string, number>()
  readonly #texts: string[] = []

  numbersOf(text: string): number[] {
    return text.split('\n').map((line) => {
      const number = this.#numbers.get(line) ?? this.#texts.push(line) - 1
      this.#numbers.set(line, number)
      return number
    })
  }

  textsOf(numbers: readonly number[]): string[] {
    return numbers.map((number) => this.#texts[number] ?? '')
  }
}
