/** Limit of the native search, which may take length × text for longer ones. */
const MAX_NATIVE_LENGTH = 16
const UNITS_AT_ONCE = 64 * 1024

/** Searches for one text in time linear in the searched text. */
export class TextSearch {
  readonly #find: string
  /** Code units unless the text is short, and its border table (for each prefix, its longest border). */
  readonly #units: Uint16Array
  readonly #borders: Int32Array

  constructor(find: string) {
    this.#find = find
    this.#units = find.length <= MAX_NATIVE_LENGTH ? new Uint16Array() : toCodeUnits(find)
    this.#borders = computeBorders(this.#units)
  }

  isFoundIn(text: string): boolean {
    for (const position of this.findMatches(text, true)) if (position !== null) return true
    return false
  }

  /** Yields matches in order, overlapping ones on request, and a null now and then as a chance to yield. */
  *findMatches(text: string, canOverlap: boolean): Generator<number | null> {
    if (this.#units.length === 0) yield* this.#findNative(text, canOverlap)
    else yield* this.#findLinear(text, canOverlap)
  }

  *#findNative(text: string, canOverlap: boolean): Generator<number> {
    const step = canOverlap ? 1 : this.#find.length
    for (let at = text.indexOf(this.#find); at !== -1; at = text.indexOf(this.#find, at + step)) yield at
  }

  /** Knuth-Morris-Pratt: reads each character once. */
  *#findLinear(text: string, canOverlap: boolean): Generator<number | null> {
    const [units, borders] = [this.#units, this.#borders]
    const progress = { at: 0, matched: 0 }
    for (let end = UNITS_AT_ONCE; progress.at < text.length; end += UNITS_AT_ONCE) {
      while (advanceTo(Math.min(end, text.length), text, units, borders, progress)) {
        yield progress.at - units.length
        progress.matched = canOverlap ? (borders[units.length - 1] ?? 0) : 0
      }
      yield null
    }
  }
}

/** Position of a search, and the length of the partial match there. */
interface SearchProgress {
  at: number
  matched: number
}

/** Advances to the end of the next match, or to a position. A separate function, which the runtime optimizes better. */
function advanceTo(
  end: number,
  text: string,
  units: Uint16Array,
  borders: Int32Array,
  progress: SearchProgress,
): boolean {
  let { at, matched } = progress
  while (at < end && matched < units.length) {
    matched = extendMatch(units, borders, matched, text.charCodeAt(at))
    at++
  }
  progress.at = at
  progress.matched = matched
  return matched === units.length
}

/** Returns the length of the partial match after one more character. */
function extendMatch(units: Uint16Array, borders: Int32Array, before: number, unit: number): number {
  let matched = before
  while (matched > 0 && units[matched] !== unit) matched = borders[matched - 1] ?? 0
  return units[matched] === unit ? matched + 1 : 0
}

function toCodeUnits(text: string): Uint16Array {
  const units = new Uint16Array(text.length)
  for (let at = 0; at < text.length; at++) units[at] = text.charCodeAt(at)
  return units
}

function computeBorders(units: Uint16Array): Int32Array {
  const borders = new Int32Array(units.length)
  let matched = 0
  for (let at = 1; at < units.length; at++) {
    matched = extendMatch(units, borders, matched, units[at] ?? 0)
    borders[at] = matched
  }
  return borders
}
