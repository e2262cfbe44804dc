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

/** The variables of one script: a value is known if whatever assigns it assigns the same. */
export class Variables {
  readonly #values = new Map<string, string>()
  #isTrusted = true

  /** What a variable stands for. */
  value(name: string): string {
    if (!this.#isTrusted && !(LEADING_OUT.has(name) && !this.#values.has(name))) return UNKNOWN
    return this.#values.get(name) ?? WELL_KNOWN.get(name) ?? UNKNOWN
  }

  assign(name: string, value: string): void {
    const before = this.#values.get(name) ?? WELL_KNOWN.get(name)
    this.#values.set(name, before === undefined || before === value ? value : UNKNOWN)
  }

  /** Something may assign variables in a way that is not looked into. */
  distrust(): void {
    this.#isTrusted = false
  }
}
