import { type Finding, isReadOnly } from '../category.ts'
import { isListed } from './name-index.ts'
import { createFinding, type ProgramEffect } from './program.ts'

/** Way in which an option takes a value: never, always, only attached, or the rest of the line as a command. */
type Kind = 'flag' | 'value' | 'optional' | 'rest'

/** Options known to change nothing and to run nothing, whatever their values. */
export interface KnownOptions {
  readonly kinds: ReadonlyMap<string, Kind>
  /** True if `-20` is an option. */
  readonly hasNumber: boolean
  /** True if words are never options, whatever they start with. */
  readonly takesWords: boolean
  /** True if words after the first operand belong to another program. */
  readonly stopsAtOperand: boolean
}

const KINDS: Readonly<Record<string, Kind>> = { '=': 'value', '?': 'optional', '~': 'rest' }

/**
 * Parses a list of options separated by spaces: `-abc` are letters without a value, `-n=` and `--name=` take one,
 * `--name?` may have one attached, a command follows `-x~`, `=-name` is a whole word with one dash,
 * `--name=text` has only this value, `-#` is a number, `*` takes any word, and `+` ends options at the first operand.
 */
export function parseKnownOptions(text: string): KnownOptions {
  const kinds = new Map<string, Kind>()
  const tokens = text.split(' ').filter((token) => token !== '')
  for (const token of tokens) {
    const kind = KINDS[token.at(-1) ?? '']
    const name = kind === undefined ? token : token.slice(0, -1)
    if (token.startsWith('=')) kinds.set(name.slice(1), kind ?? 'flag')
    else if (token.startsWith('--') || kind !== undefined) kinds.set(name, kind ?? 'flag')
    else for (const letter of token.slice(1)) kinds.set(`-${letter}`, 'flag')
  }
  const [hasNumber, takesWords, stopsAtOperand] = ['-#', '*', '+'].map((token) => tokens.includes(token))
  return { kinds, hasNumber: !!hasNumber, takesWords: !!takesWords, stopsAtOperand: !!stopsAtOperand }
}

/** Returns the first word of a call that may be an option and is not known to be harmless, or undefined. */
function findUnknownOption(known: KnownOptions, args: readonly string[]): string | undefined {
  if (known.takesWords) return undefined
  for (let index = 0; index < args.length; index++) {
    const arg = args[index] ?? ''
    if (arg === '--') return undefined
    if (!arg.startsWith('-') || arg === '-') {
      if (known.stopsAtOperand) return undefined
      continue
    }
    const kind = findOptionKind(arg, known)
    if (kind === undefined) return arg
    if (kind === 'rest') return undefined
    if (kind !== 'value') continue
    // One program's value is another's option: a word that looks like an option is not skipped.
    const next = args[++index]
    if (next !== undefined && /^-[^\d]/.test(next)) return next
  }
  return undefined
}

/** Returns the kind of a known option; `value` only where the next word is its value. */
export function findOptionKind(arg: string, { kinds, hasNumber }: KnownOptions): Kind | undefined {
  const whole = kinds.get(arg)
  if (whole !== undefined) return whole
  if (arg.startsWith('--')) {
    const equals = arg.indexOf('=')
    const kind = equals === -1 ? undefined : kinds.get(arg.slice(0, equals))
    return kind === undefined || kind === 'flag' ? undefined : kind === 'rest' ? 'rest' : 'flag'
  }
  if (hasNumber && /^-\d+$/.test(arg)) return 'flag'
  for (let index = 1; index < arg.length; index++) {
    const kind = kinds.get(`-${arg[index]}`)
    if (kind === undefined || kind === 'rest' || kind === 'optional') return kind
    if (kind === 'value') return index === arg.length - 1 ? 'value' : 'flag'
  }
  return 'flag'
}

/** Names of programs, separated by spaces, and their options as `parseKnownOptions` takes them. */
export type OptionRow = readonly [names: string, options: string]

/** Tables of options by the names of programs; each is parsed at its first use. */
export class OptionTable {
  readonly #rows: readonly OptionRow[]
  readonly #known = new Map<string, KnownOptions>()

  constructor(rows: readonly OptionRow[]) {
    this.#rows = rows
  }

  /** Reports whether all options of a call are known to be harmless. Of a program outside the table, none is. */
  hasOnlyKnown(name: string, args: readonly string[]): boolean {
    return this.#findUnknown(name, args) === undefined
  }

  /** Returns an effect unchanged, except a read-only one with an unknown option: that call may change files. */
  checkOptions(name: string, args: readonly string[], effect: ProgramEffect): ProgramEffect {
    if (!effect.findings.every(isReadOnly)) return effect
    const option = this.#findUnknown(name, args)
    return option === undefined
      ? effect
      : { ...effect, findings: [...effect.findings, createUnknownFinding(option)] }
  }

  #findUnknown(name: string, args: readonly string[]): string | undefined {
    let known = this.#known.get(name)
    if (known === undefined) {
      const [, text = ''] = this.#rows.findLast(([names]) => isListed(name, names)) ?? []
      known = parseKnownOptions(text)
      this.#known.set(name, known)
    }
    return findUnknownOption(known, args)
  }
}

function createUnknownFinding(option: string): Finding {
  return createFinding('mutating', `has ${option}, which is not known to only read`)
}
