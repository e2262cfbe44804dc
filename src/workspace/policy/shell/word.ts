import type { Word, WordPart } from 'unbash'
import type { Variables } from './variables.ts'

/** Stands in a word for whatever is only known when it runs. No word of a shell can hold it. */
export const UNKNOWN = '\0'

/** Where an unquoted expansion falls apart into several words. */
const BREAK = '\u0001'

/** Whether all of a word is known. */
export function isLiteral(word: string): boolean {
  return !word.includes(UNKNOWN)
}

/** The words a program gets for one word of a script: none, one or several. */
export function expand(word: Word, variables: Variables): string[] {
  if (word.parts === undefined) return [word.value]
  let texts = ['']
  for (const part of word.parts) {
    const values = valuesOf(part, variables, texts[0] === '')
    texts = texts.flatMap((text) => values.map((value) => text + value))
  }
  return texts.flatMap((text) =>
    text.includes(BREAK) ? text.split(BREAK).filter((one) => one !== '') : text,
  )
}

/** A word where a shell makes exactly one of it: the value of an assignment, the target of a redirection. */
export function expandWhole(word: Word, variables: Variables): string {
  return expand(word, variables).join(' ')
}

/** What a part may become; several only for braces. */
function valuesOf(part: WordPart, variables: Variables, isFirst: boolean): readonly string[] {
  switch (part.type) {
    case 'Literal':
    case 'SingleQuoted':
    case 'AnsiCQuoted':
      return [part.value]
    case 'Glob':
      // What a pattern at the front matches may look like an option; further on it can only be a name.
      return [isFirst ? UNKNOWN : part.text]
    case 'DoubleQuoted':
    case 'LocaleString':
      return [part.parts.map((child) => quoted(child, variables)).join('')]
    case 'BraceExpansion':
      return alternatives(part.text)
    default:
      return [expansion(part, variables).replaceAll(/[ \t\n]+/g, BREAK)]
  }
}

function expansion(part: WordPart, variables: Variables): string {
  if (part.type === 'SimpleExpansion') return variables.value(part.text.slice(1))
  if (part.type !== 'ParameterExpansion') return UNKNOWN
  const isPlain = part.prefix === undefined && part.index === undefined && part.operation === undefined
  return isPlain ? variables.value(part.parameter) : UNKNOWN
}

function quoted(part: WordPart, variables: Variables): string {
  return part.type === 'Literal' ? part.value : expansion(part, variables)
}

/** `{a,b}` is both; anything more is not looked into. */
function alternatives(text: string): readonly string[] {
  return /^\{[^\\"'$`{}.]*(?:\.[^\\"'$`{}.]+)*\}$/.test(text) ? text.slice(1, -1).split(',') : [UNKNOWN]
}
