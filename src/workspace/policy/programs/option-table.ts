import { type Finding, isReadOnly } from '../category.ts'
import { createFinding, type ProgramEffect } from './program.ts'

/** How an option takes its value: not at all, always, only if it is glued to it, or all that follows is a command. */
type Kind = 'flag' | 'value' | 'optional' | 'rest'

/** Options that are known to change nothing and to run nothing, whatever their values. */
interface KnownOptions {
  readonly kinds: ReadonlyMap<string, Kind>
  /** `-20`. */
  readonly hasNumber: boolean
  /** Words are no options, whatever they start with. */
  readonly takesWords: boolean
  /** What follows the first operand belongs to another program. */
  readonly stopsAtOperand: boolean
}

const KINDS: Readonly<Record<string, Kind>> = { '=': 'value', '?': 'optional', '~': 'rest' }

/**
 * Reads a list of options, with a space between each: `-abc` are letters without a value, `-n=` and `--name=` take one,
 * `--name?` may have one glued to it, behind `-x~` stands a command, `=-name` is a whole word with one dash,
 * `--name=text` has only this value, `-#` is a number, `*` takes any word, and after `+` options end at the first operand.
 */
function parseKnownOptions(text: string): KnownOptions {
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

/** The first word of a call that may be an option and is not known to be harmless; undefined where there is none. */
function findUnknownOption(known: KnownOptions, args: readonly string[]): string | undefined {
  if (known.takesWords) return undefined
  for (let index = 0; index < args.length; index++) {
    const arg = args[index] ?? ''
    if (arg === '--') return undefined
    if (!arg.startsWith('-') || arg === '-') {
      if (known.stopsAtOperand) return undefined
      continue
    }
    const kind = kindOf(arg, known)
    if (kind === undefined) return arg
    if (kind === 'rest') return undefined
    if (kind !== 'value') continue
    // One program's value is another's option: what looks like one is not skipped.
    const next = args[++index]
    if (next !== undefined && /^-[^\d]/.test(next)) return next
  }
  return undefined
}

/** How an option is known; `value` only where its value is the next word. */
function kindOf(arg: string, { kinds, hasNumber }: KnownOptions): Kind | undefined {
  const whole = kinds.get(arg)
  if (whole !== undefined) return whole
  if (arg.startsWith('--')) {
    const at = arg.indexOf('=')
    const kind = at === -1 ? undefined : kinds.get(arg.slice(0, at))
    return kind === undefined || kind === 'flag' ? undefined : kind === 'rest' ? 'rest' : 'flag'
  }
  if (hasNumber && /^-\d+$/.test(arg)) return 'flag'
  for (let at = 1; at < arg.length; at++) {
    const kind = kinds.get(`-${arg[at]}`)
    if (kind === undefined || kind === 'rest' || kind === 'optional') return kind
    if (kind === 'value') return at === arg.length - 1 ? 'value' : 'flag'
  }
  return 'flag'
}

/** Tables of options by the names of programs; each is read when it is first asked for. */
export class OptionTable {
  readonly #texts: ReadonlyMap<string, string>
  readonly #known = new Map<string, KnownOptions>()

  constructor(texts: readonly (readonly [names: string, options: string])[]) {
    this.#texts = new Map(texts.flatMap(([names, text]) => names.split(' ').map((name) => [name, text])))
  }

  /** Whether all options of a call are known to be harmless. A program that is not in the table has none. */
  hasOnlyKnown(name: string, args: readonly string[]): boolean {
    return this.#findUnknown(name, args) === undefined
  }

  /** What a call does that was found to only read: that holds with options that are known to. */
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
      known = parseKnownOptions(this.#texts.get(name) ?? '')
      this.#known.set(name, known)
    }
    return findUnknownOption(known, args)
  }
}

function createUnknownFinding(option: string): Finding {
  return createFinding('mutating', `has ${option}, which is not known to only read`)
}
