import { UNKNOWN } from './unknown.ts'

/** What every shell sets: the home, which no workspace holds, and where it stands. */
const WELL_KNOWN: ReadonlyMap<string, string> = new Map([
  ['HOME', '~'],
  ['PWD', '.'],
  ['IFS', ' '],
  ['TMPDIR', '/tmp'],
])

/** Those that lead out of the workspace do so whatever else a script does. */
const LEADING_OUT = new Set(['HOME', 'TMPDIR'])

/** What a shell keeps a number in. */
const NUMBERS = new Set(
  'RANDOM SRANDOM SECONDS EPOCHSECONDS LINENO OPTIND UID EUID PPID SHLVL BASHPID'.split(' '),
)
const NUMBER = /^[-+]?\d+$/

/** More than anybody keeps in a variable, and more than a script makes of all of them: `a=$a$a` doubles each time. */
const MAX_VALUE = 16 * 1024
const MAX_EXPANDED = 512 * 1024

/** The variables of one script: a value is known if whatever assigns it assigns the same. */
export class Variables {
  readonly #values = new Map<string, string>()
  /** Those that were assigned something that may be no number. */
  readonly #texts = new Set<string>()
  #isTrusted = true
  #expanded = 0
  #isExhausted = false

  /** Whether values became too long to be looked into: what they stand for is not known from there on. */
  get isExhausted(): boolean {
    return this.#isExhausted
  }

  /** What a variable stands for. */
  value(name: string): string {
    if (!this.#isTrusted && !(LEADING_OUT.has(name) && !this.#values.has(name))) return UNKNOWN
    const value = this.#values.get(name) ?? WELL_KNOWN.get(name) ?? UNKNOWN
    this.#expanded += value.length
    return this.#expanded > MAX_EXPANDED ? this.#exhaust() : value
  }

  #exhaust(): string {
    this.#isExhausted = true
    return UNKNOWN
  }

  /** Whether a variable is a number wherever it is assigned, so that nothing is run when it is evaluated. */
  isNumber(name: string): boolean {
    if (!this.#isTrusted || this.#texts.has(name)) return false
    return this.#values.has(name) || NUMBERS.has(name)
  }

  /** @param isNumber whether the value is a number, though perhaps not a known one. */
  assign(name: string, text: string, isNumber: boolean = NUMBER.test(text)): void {
    const value = text.length > MAX_VALUE ? this.#exhaust() : text
    if (!isNumber) this.#texts.add(name)
    const before = this.#values.get(name) ?? WELL_KNOWN.get(name)
    this.#values.set(name, before === undefined || before === value ? value : UNKNOWN)
  }

  /** Something may assign variables in a way that is not looked into. */
  distrust(): void {
    this.#isTrusted = false
  }
}
