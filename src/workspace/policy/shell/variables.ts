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

/** The variables of one script: a value is known if whatever assigns it assigns the same. */
export class Variables {
  readonly #values = new Map<string, string>()
  /** Those that were assigned something that may be no number. */
  readonly #texts = new Set<string>()
  #isTrusted = true

  /** What a variable stands for. */
  value(name: string): string {
    if (!this.#isTrusted && !(LEADING_OUT.has(name) && !this.#values.has(name))) return UNKNOWN
    return this.#values.get(name) ?? WELL_KNOWN.get(name) ?? UNKNOWN
  }

  /** Whether a variable is a number wherever it is assigned, so that nothing is run when it is evaluated. */
  isNumber(name: string): boolean {
    if (!this.#isTrusted || this.#texts.has(name)) return false
    return this.#values.has(name) || NUMBERS.has(name)
  }

  /** @param isNumber whether the value is a number, though perhaps not a known one. */
  assign(name: string, value: string, isNumber: boolean = NUMBER.test(value)): void {
    if (!isNumber) this.#texts.add(name)
    const before = this.#values.get(name) ?? WELL_KNOWN.get(name)
    this.#values.set(name, before === undefined || before === value ? value : UNKNOWN)
  }

  /** Something may assign variables in a way that is not looked into. */
  distrust(): void {
    this.#isTrusted = false
  }
}
