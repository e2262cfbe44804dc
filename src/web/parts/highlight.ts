/** A part of a line of code and its kind, which is a class of the style sheet; empty for plain text. */
export interface CodeToken {
  readonly text: string
  readonly kind: '' | 'comment' | 'string' | 'keyword' | 'number'
}

interface Language {
  readonly names: readonly string[]
  readonly token: RegExp
  readonly keywords: ReadonlySet<string>
}

const C_WORDS =
  'abstract as async await break case catch class const continue default defer delete do else enum export extends extern false final finally fn for from func function go goto if impl implements import in instanceof interface let loop match mod mut namespace new nil null of override package private protected pub public readonly return satisfies select self static struct super switch this throw throws trait true try type typedef typeof undefined union unsafe use using var void where while yield'
const SCRIPT_WORDS =
  'and as assert async await begin break case class continue def del do done elif else end esac except export False fi finally for from function global if import in is lambda local module None nonlocal not or pass raise require rescue return self set then True try unless until when while with yield'
const SQL_WORDS =
  'all alter and as asc between by case create delete desc distinct drop else end exists false from full group having if in index inner insert into is join key left like limit not null on or order outer primary references right select set table then true union unique update values view when where with'

const STRINGS = String.raw`"(?:\\.|[^"\\])*"?|'(?:\\.|[^'\\])*'?`
const REST = String.raw`|\b\d[\w.]*|[A-Za-z_$][\w$]*`
const LANGUAGES: readonly Language[] = [
  {
    names:
      'ts tsx js jsx mjs cjs mts cts c h cc cpp hpp cs java go rs swift kt scala php dart proto css scss json jsonc'.split(
        ' ',
      ),
    token: new RegExp(
      String.raw`\/\/.*|\/\*.*?(?:\*\/|$)|^\s*\*(?:\s.*|\/|$)|${STRINGS}|\`(?:\\.|[^\`\\])*\`?${REST}`,
      'g',
    ),
    keywords: new Set(C_WORDS.split(' ')),
  },
  {
    names: 'py rb sh bash zsh yml yaml toml ini conf cfg env mk makefile dockerfile gitignore'.split(' '),
    token: new RegExp(String.raw`(?:^|(?<=\s))#.*|${STRINGS}${REST}`, 'g'),
    keywords: new Set(SCRIPT_WORDS.split(' ')),
  },
  {
    names: ['sql', 'lua', 'hs'],
    token: new RegExp(`--.*|${STRINGS}${REST}`, 'g'),
    keywords: new Set(SQL_WORDS.split(' ').flatMap((word) => [word, word.toUpperCase()])),
  },
]

/** Longer lines are data, and stay plain. */
const MAX_LINE = 2000

/** Splits a line of code into tokens. It knows no state from line to line: colours are a help, not a parse. */
export function highlightLine(line: string, path: string): readonly CodeToken[] {
  const language = findLanguage(path)
  if (language === undefined || line.length > MAX_LINE) return [{ text: line, kind: '' }]
  const tokens: CodeToken[] = []
  let end = 0
  for (const { 0: text, index } of line.matchAll(language.token)) {
    const kind = classifyToken(text, language.keywords)
    if (kind === '') continue
    if (index > end) tokens.push({ text: line.slice(end, index), kind: '' })
    tokens.push({ text, kind })
    end = index + text.length
  }
  if (end < line.length || tokens.length === 0) tokens.push({ text: line.slice(end), kind: '' })
  return tokens
}

function findLanguage(path: string): Language | undefined {
  const name = path.slice(path.lastIndexOf('/') + 1).toLowerCase()
  const extension = name.slice(name.lastIndexOf('.') + 1)
  return LANGUAGES.find(({ names }) => names.includes(extension))
}

function classifyToken(text: string, keywords: ReadonlySet<string>): CodeToken['kind'] {
  if (/^["'`]/.test(text)) return 'string'
  if (/^\d/.test(text)) return 'number'
  if (/^[A-Za-z_$]/.test(text)) return keywords.has(text) ? 'keyword' : ''
  return 'comment'
}
