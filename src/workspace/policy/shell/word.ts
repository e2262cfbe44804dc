import type { Word, WordPart } from 'unbash'
import { UNKNOWN } from './unknown.ts'
import type { Variables } from './variables.ts'

/** Path of a pipe that a shell substitutes for `<(…)` and `>(…)`. */
const PIPE_END = '/dev/fd/63'

/** Character at which an unquoted expansion splits into several words. */
const BREAK = '\u0001'

/** Limit of words that the braces of one word may expand to. */
const MAX_BRACE_WORDS = 256
/** Limit of words after the values of variables are split. */
const MAX_FIELDS = 4096

/** Returns the words that a program gets for one word of a script: none, one or several. */
export function expand(word: Word, variables: Variables): string[] {
  const { parts } = word
  if (parts === undefined) return [word.value]
  let texts = ['']
  for (const part of parts) {
    if (part.type === 'BraceExpansion') texts = combineTexts(texts, expandBraces(part.text))
    else {
      const value = expandPart(part, variables, texts[0] === '')
      for (let index = 0; index < texts.length; index++) texts[index] += value
    }
  }
  if (!texts.some((text) => text.includes(BREAK))) return texts
  const words = texts.flatMap(splitFields)
  return words.length > MAX_FIELDS ? [UNKNOWN, UNKNOWN] : words
}

/** Returns each of some texts with each of some ends. */
function combineTexts(texts: readonly string[], ends: readonly string[]): string[] {
  if (texts.length * ends.length > MAX_BRACE_WORDS) return [UNKNOWN]
  return texts.flatMap((text) => ends.map((end) => text + end))
}

function splitFields(text: string): readonly string[] {
  return text.split(BREAK).filter((word) => word !== '')
}

/** Expands a word that always stays one: the value of an assignment, the target of a redirection. */
export function expandWhole(word: Word, variables: Variables): string {
  return expand(word, variables).join(' ')
}

/** Expands one part of a word. */
function expandPart(part: WordPart, variables: Variables, isFirst: boolean): string {
  switch (part.type) {
    case 'Literal':
    case 'SingleQuoted':
    case 'AnsiCQuoted':
      return part.value
    case 'Glob':
      // At the front, a pattern may match something that looks like an option; further on only a name.
      return isFirst ? UNKNOWN : part.text
    case 'DoubleQuoted':
    case 'LocaleString':
      return part.parts.map((child) => expandQuoted(child, variables)).join('')
    case 'ProcessSubstitution':
      return PIPE_END
    default:
      return expandParameter(part, variables).replaceAll(/[ \t\n]+/g, BREAK)
  }
}

function expandParameter(part: WordPart, variables: Variables): string {
  if (part.type === 'SimpleExpansion') return variables.getValue(part.text.slice(1))
  if (part.type !== 'ParameterExpansion') return UNKNOWN
  if (part.prefix !== undefined || part.index !== undefined) return UNKNOWN
  // A variable that is known to be set needs no default.
  const operator = part.operation?.operator ?? '-'
  const value = variables.getValue(part.parameter)
  const isSet = value !== '' || !operator.startsWith(':')
  return isSet && /^:?[-=?]$/.test(operator) ? value : UNKNOWN
}

function expandQuoted(part: WordPart, variables: Variables): string {
  return part.type === 'Literal' ? part.value : expandParameter(part, variables)
}

/** Expands `{a,b}` into both; more than that, such as `{a..z}`, is not analysed. */
function expandBraces(text: string): readonly string[] {
  return /^\{[^\\"'$`{}]*,[^\\"'$`{}]*\}$/.test(text) ? text.slice(1, -1).split(',') : [UNKNOWN]
}
