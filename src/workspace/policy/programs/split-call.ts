import { UNKNOWN } from '../shell/unknown.ts'
import { findOptionKind, type KnownOptions, parseKnownOptions } from './option-table.ts'
import { type Arguments, type OptionSet, parseArguments } from './options.ts'

/** A call of a wrapper, split into its own words and the command that it runs. */
export interface SplitCall {
  /** Arguments of the wrapper itself. */
  readonly own: Arguments
  /** Words before the first command. */
  readonly before: readonly string[]
  /** Every reading of the words after them: there are several if an option is not known. */
  readonly commands: readonly (readonly string[])[]
}

/** Limit on readings, above the number of unknown options that people write. */
const MAX_READINGS = 8

interface Known {
  readonly options: KnownOptions
  readonly takesValue: OptionSet
}

/** Cache of parsed option lists: they are written at their use, and needed at every call. */
const cache = new Map<string, Known>()

/**
 * Splits a call by the options of its program, listed as in `OptionTable`. An option outside the list may take
 * the next word or not: both readings count.
 */
export function splitCall(options: string, args: readonly string[]): SplitCall {
  const known = getKnownOptions(options)
  const starts = listCommandStarts(known.options, args)
  const [first = args.length] = starts
  return {
    own: parseArguments(args.slice(0, starts.at(-1) ?? args.length), known.takesValue),
    before: args.slice(0, first),
    commands: starts.length > MAX_READINGS ? [[UNKNOWN]] : starts.map((start) => args.slice(start)),
  }
}

/** Returns the options of a list that take a value, as `parseArguments` expects them. */
export function getValueOptions(options: string): OptionSet {
  return getKnownOptions(options).takesValue
}

function getKnownOptions(text: string): Known {
  let known = cache.get(text)
  if (known === undefined) {
    const options = parseKnownOptions(text)
    // A long option with an optional value only takes one behind its equals sign.
    const names = [...options.kinds].flatMap(([name, kind]) => {
      if (kind === 'value') return [name]
      return kind === 'optional' && name.length === 2 ? [`${name}?`] : []
    })
    known = { options, takesValue: new Set(names) }
    cache.set(text, known)
  }
  return known
}

/** Lists the places where the wrapped command may begin, in ascending order. */
function listCommandStarts(options: KnownOptions, args: readonly string[]): readonly number[] {
  const starts = new Set<number>()
  const reached = new Set([0])
  for (const index of reached) {
    const word = args[index]
    if (word === undefined) continue
    if (word === '--') starts.add(index + 1)
    else if (!word.startsWith('-') || word === '-') starts.add(index)
    else for (const length of listLengths(options, word)) reached.add(index + length)
  }
  return [...starts].filter((start) => start < args.length).sort((one, other) => one - other)
}

/** Lists how many words an option may take, itself included. */
function listLengths(options: KnownOptions, word: string): readonly number[] {
  const kind = findOptionKind(word, options)
  if (kind === undefined) return /^--[^=]+=/.test(word) ? [1] : [1, 2]
  return kind === 'value' ? [2] : [1]
}
