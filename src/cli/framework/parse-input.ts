import { type ParseArgsOptionsConfig, parseArgs } from 'node:util'
import { findNearest } from '../../text/index.ts'
import type { CommandArgument, CommandDefinition, CommandOption } from './command-definition.ts'
import { commonOptions } from './common-options.ts'
import { UsageError } from './usage-error.ts'

/** Options and arguments by the names of the definition. */
export interface ParsedInput {
  /** Values of each option; a switch has an empty list. */
  readonly options: ReadonlyMap<string, readonly string[]>
  readonly arguments: ReadonlyMap<string, readonly string[]>
}

/**
 * Lists the options of a command: its own, then those of its scope. An own option replaces the common one of its name.
 */
export function listOptions({
  options = {},
  scope,
}: CommandDefinition): Readonly<Record<string, CommandOption>> {
  return { ...options, ...commonOptions[scope], ...options }
}

/** Checks the input against the definition. UsageError names the fault and the help. */
export function parseInput(definition: CommandDefinition, args: readonly string[]): ParsedInput {
  try {
    const optionDefinitions = listOptions(definition)
    const { tokens } = parseArgs({
      args: [...args],
      options: toParseArgsConfig(optionDefinitions),
      allowPositionals: true,
      // Not strict: the checks below report unknown options and missing values.
      strict: false,
      tokens: true,
    })
    const options = new Map<string, readonly string[]>()
    const words: string[] = []
    let dashPosition: number | undefined
    for (const token of tokens) {
      if (token.kind === 'option-terminator') dashPosition ??= words.length
      if (token.kind === 'positional') words.push(token.value)
      if (token.kind !== 'option') continue
      const before = options.get(token.name) ?? []
      if (before.length > 0 && optionDefinitions[token.name]?.isList !== true) {
        throw new UsageError(`'${token.rawName}' was given twice`)
      }
      assertKnownOption(definition, optionDefinitions, token)
      options.set(token.name, [...before, ...parseOptionValue(optionDefinitions, token)])
    }
    return { options, arguments: assignWords(definition.arguments ?? {}, words, dashPosition) }
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    throw new UsageError(`${error.message}; see coppice ${definition.name} --help`)
  }
}

function assertKnownOption(
  definition: CommandDefinition,
  optionDefinitions: Readonly<Record<string, CommandOption>>,
  { name, rawName }: OptionToken,
): void {
  if (Object.hasOwn(optionDefinitions, name)) return
  const near = rawName.startsWith('--') ? findNearest(name, Object.keys(optionDefinitions)) : undefined
  const hint = near === undefined ? formatDashHint(definition, rawName) : `; did you mean '--${near}'`
  throw new UsageError(`there is no option '${rawName}'${hint}`)
}

/** Hints at `--` before options of another program, and before names that begin with a dash. */
function formatDashHint({ arguments: words = {} }: CommandDefinition, rawName: string): string {
  const takesFork = Object.values(words).some(({ offers }) => offers?.includes('fork') === true)
  if (takesFork && rawName === '--fork') return '; name the fork without an option'
  const program = Object.entries(words).find(([, { isForOtherProgram }]) => isForOtherProgram === true)
  if (program !== undefined) return `; put -- before the <${program[0]}> and its options`
  const takesNames = Object.values(words).some(({ offers }) => offers === 'path' || offers === 'file')
  return takesNames && !rawName.startsWith('--') ? '; put -- before a name that starts with a dash' : ''
}

function toParseArgsConfig(options: Readonly<Record<string, CommandOption>>): ParseArgsOptionsConfig {
  const entries = Object.entries(options).map(([name, { short, value }]) => {
    const type: 'string' | 'boolean' = value === undefined ? 'boolean' : 'string'
    return [name, { type, ...(short !== undefined && { short }) }] as const
  })
  return Object.fromEntries(entries)
}

interface OptionToken {
  readonly name: string
  readonly rawName: string
  readonly value: string | undefined
  /** True for `--name=value`. */
  readonly inlineValue: boolean | undefined
}

function parseOptionValue(
  optionDefinitions: Readonly<Record<string, CommandOption>>,
  { name, rawName, value, inlineValue }: OptionToken,
): readonly string[] {
  const option = optionDefinitions[name]
  if (option?.value === undefined) {
    if (value !== undefined) throw new UsageError(`'${rawName}' takes no value`)
    return []
  }
  if (value === undefined || (value === '--' && inlineValue === false))
    throw new UsageError(`'${rawName}' needs a value, ${rawName} <${option.value}>`)
  assertChoice(rawName, option.choices, value)
  assertFileGiven(rawName, option.offers, value)
  return [value]
}

/** Assigns words to arguments: those after `--` to the argument that takes only these, if there is one. */
function assignWords(
  definitions: Readonly<Record<string, CommandArgument>>,
  words: readonly string[],
  dashPosition: number = words.length,
): Map<string, readonly string[]> {
  const after = Object.entries(definitions).find(([, { isAfterDashes }]) => isAfterDashes === true)
  if (after === undefined) return assignArguments(definitions, words)
  const [name, definition] = after
  const { [name]: _after, ...others } = definitions
  return new Map([
    ...assignArguments(others, words.slice(0, dashPosition), `; put -- before a <${name}>`),
    ...assignArguments({ [name]: definition }, words.slice(dashPosition)),
  ])
}

/** Assigns words to arguments. An optional argument gets a word only if one is left over. */
function assignArguments(
  definitions: Readonly<Record<string, CommandArgument>>,
  words: readonly string[],
  hint = '',
): Map<string, readonly string[]> {
  const required = Object.values(definitions).filter(({ isOptional }) => isOptional !== true).length
  let spare = words.length - required
  let next = 0
  const assigned = new Map<string, readonly string[]>()
  for (const [name, { isOptional = false, isList = false, choices, offers }] of Object.entries(definitions)) {
    if (isOptional && spare <= 0) continue
    const taken = isList ? words.slice(next) : words.slice(next, next + 1)
    if (taken.length === 0) throw new UsageError(`<${name}> is missing`)
    for (const word of taken) {
      assertChoice(`<${name}>`, choices, word)
      assertFileGiven(`<${name}>`, offers, word)
    }
    spare -= taken.length - (isOptional ? 0 : 1)
    next += taken.length
    assigned.set(name, taken)
  }
  const [extra] = words.slice(next)
  if (extra !== undefined) throw new UsageError(`unexpected argument '${extra}'${hint}`)
  return assigned
}

function assertChoice(what: string, choices: readonly string[] | undefined, value: string): void {
  if (choices === undefined || choices.includes(value)) return
  const known = choices.length === 1 ? `'${choices[0]}' alone` : `one of ${choices.join(', ')}`
  throw new UsageError(`${what} takes ${known}, not '${value}'`)
}

/** Refuses an empty path, which an unset variable gives and which would mean the working directory. */
function assertFileGiven(what: string, offers: CommandOption['offers'], value: string): void {
  if (offers === 'file' && value === '') throw new UsageError(`${what} is empty; name a file or directory`)
}
