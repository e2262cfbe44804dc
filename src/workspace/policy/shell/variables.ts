import { UNKNOWN } from './unknown.ts'

/** Values that variables have without an assignment, as paths count: no workspace holds the home. */
const WELL_KNOWN: ReadonlyMap<string, string> = new Map([
  ['HOME', '~'],
  ['PWD', '.'],
  ['IFS', ' '],
  ['TMPDIR', '/tmp'],
])

/** Variables that lead out of the workspace whatever a script assigns. */
const LEADING_OUT = new Set(['HOME', 'TMPDIR'])

/** Variables in which a shell keeps a number. */
const NUMBERS = new Set(
  'RANDOM SRANDOM SECONDS EPOCHSECONDS LINENO OPTIND UID EUID PPID SHLVL BASHPID'.split(' '),
)
const NUMBER = /^[-+]?\d+$/

/** Limits in characters of one value and of all values together: `a=$a$a` doubles each time. */
const MAX_VALUE = 16 * 1024
const MAX_EXPANDED = 512 * 1024

/** Variables of one script: a value is known if every assignment assigns the same. */
export class Variables {
  readonly #values = new Map<string, string>()
  /** Names that were assigned a text that may be no number. */
  readonly #texts = new Set<string>()
  #isTrusted = true
  #expanded = 0
  #isExhausted = false

  /** True once values are too long to analyse: from there on they are unknown. */
  get isExhausted(): boolean {
    return this.#isExhausted
  }

  /** Returns the value of a variable, or UNKNOWN. */
  getValue(name: string): string {
    if (!this.#isTrusted && !(LEADING_OUT.has(name) && !this.#values.has(name))) return UNKNOWN
    const value = this.#values.get(name) ?? WELL_KNOWN.get(name) ?? UNKNOWN
    this.#expanded += value.length
    return this.#expanded > MAX_EXPANDED ? this.#exhaust() : value
  }

  #exhaust(): string {
    this.#isExhausted = true
    return UNKNOWN
  }

  /** True if every assignment of a variable gives it a number, so that its evaluation runs nothing. */
  isNumber(name: string): boolean {
    if (!this.#isTrusted || this.#texts.has(name)) return false
    return this.#values.has(name) || NUMBERS.has(name)
  }

  /**
   * Records an assignment. A variable with two different values is unknown.
   * @param isNumber true if the value is a number, though perhaps an unknown one.
   */
  assign(name: string, text: string, isNumber: boolean = NUMBER.test(text)): void {
    const value = text.length > MAX_VALUE ? this.#exhaust() : text
    if (!isNumber) this.#texts.add(name)
    const before = this.#values.get(name) ?? WELL_KNOWN.get(name)
    this.#values.set(name, before === undefined || before === value ? value : UNKNOWN)
  }

  /** Makes all values unknown: a command may assign variables in a way that is not analysed. */
  distrust(): void {
    this.#isTrusted = false
  }
}
