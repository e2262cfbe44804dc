import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseSync, Visitor } from 'oxc-parser'

/** Words and names in the style that the project left, each with its place. */
export interface WordingCounts {
  /** The words `told`, `tell` and `tells`. */
  readonly tellWords: readonly string[]
  /** Titles of tests below the directory with one of these words, or a banned phrase. */
  readonly testTitles: readonly string[]
  /** Phrases that no new line may use. */
  readonly banned: readonly string[]
  /** Documentation comments, of one line or several, that open with a question word. */
  readonly questions: readonly string[]
  /** The number of documentation comments. */
  readonly docs: number
  /** Functions named by a participle: `refused`, `toldAsAsked`. */
  readonly participles: readonly string[]
  /** Functions whose name ends in `Of`. */
  readonly endingInOf: readonly string[]
  /** Exported type names that more than one file declares. */
  readonly repeatedTypes: readonly string[]
}

interface SourceFile {
  readonly path: string
  readonly text: string
}

/** Counts over every source file below a directory. Of tests, only the titles count. */
export function countWording(directory: string): WordingCounts {
  const all = listSources(directory)
  const files = all.filter(({ path }) => !path.endsWith('.test.ts'))
  const tests = all.filter(({ path }) => path.endsWith('.test.ts'))
  const declared = new Map<string, string[]>()
  const functions: string[] = []
  for (const file of files) {
    const names = parseNames(file)
    for (const name of names.functions) functions.push(`${file.path}: ${name}`)
    for (const name of names.exportedTypes) declared.set(name, [...(declared.get(name) ?? []), file.path])
  }
  const docs = files.flatMap(findDocs)
  return {
    tellWords: files.flatMap((file) => findWords(file, TELL_WORDS)),
    testTitles: tests.flatMap((file) =>
      [...findWords(file, TELL_WORDS), ...findWords(file, BANNED)].filter((line) => TEST_TITLE.test(line)),
    ),
    banned: files.flatMap((file) => findWords(file, BANNED)),
    questions: docs.filter((line) => /: (?:What|Whether|Who|Where|How|Why)\b/.test(line)),
    docs: docs.length,
    participles: functions.filter((line) => isParticiple(line.slice(line.lastIndexOf(' ') + 1))),
    endingInOf: functions.filter((line) => /[a-z]Of$/.test(line)),
    repeatedTypes: [...declared]
      .filter(([, paths]) => paths.length > 1)
      .map(([name, paths]) => `${name}: ${paths.join(', ')}`),
  }
}

function listSources(directory: string): SourceFile[] {
  return readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.tsx?$/.test(name))
    .map((name) => ({ path: name, text: readFileSync(join(directory, name), 'utf8') }))
}

/** Names of every function, method and getter of a file, and of every type it exports. */
function parseNames({ path, text }: SourceFile): { functions: string[]; exportedTypes: string[] } {
  const functions: string[] = []
  const exportedTypes: string[] = []
  const { program } = parseSync(path, text)
  new Visitor({
    FunctionDeclaration: ({ id }) => void (id && functions.push(id.name)),
    VariableDeclarator: ({ id, init }) => {
      if (id.type !== 'Identifier' || init === null) return
      if (init.type === 'ArrowFunctionExpression' || init.type === 'FunctionExpression')
        functions.push(id.name)
    },
    MethodDefinition: ({ key, kind }) => {
      if (kind === 'method' && (key.type === 'Identifier' || key.type === 'PrivateIdentifier'))
        functions.push(key.name)
    },
    ExportNamedDeclaration: ({ declaration }) => {
      const isType =
        declaration?.type === 'TSInterfaceDeclaration' ||
        declaration?.type === 'TSTypeAliasDeclaration' ||
        declaration?.type === 'ClassDeclaration'
      if (isType && declaration.id) exportedTypes.push(declaration.id.name)
    },
  }).visit(program)
  return { functions, exportedTypes }
}

const TELL_WORDS = /\b(?:told|tell|tells)\b/gi
const TEST_TITLE = /: (?:it|describe)\b.*\(\s*['"`]/
const BANNED = /\b(?:whoever|what of it|so often|himself|it is looked whether)\b/gi

/** Participles that do not end in `ed`. `read`, `put`, `cut`, `set`, `let`, `hit` and `split` are verbs as well. */
const IRREGULAR = new Set(
  'told gone made kept held taken seen known shown found given written left sent said meant begun born brought built caught chosen come done drawn driven fallen felt forgotten frozen gotten grown heard hidden laid led lent lost met paid risen rung shut sold spent spoken spun stolen stood struck sunk sworn thought thrown torn understood won worn wound woken bound bent broken'.split(
    ' ',
  ),
)
/** Words in `ed` that are verbs or nouns. */
const NO_PARTICIPLES = new Set([
  'need',
  'feed',
  'seed',
  'speed',
  'embed',
  'proceed',
  'exceed',
  'shed',
  'red',
  'succeed',
])

function isParticiple(name: string): boolean {
  const first = /^[a-z]+/.exec(name)?.[0] ?? ''
  return IRREGULAR.has(first) || (first.endsWith('ed') && !NO_PARTICIPLES.has(first))
}

/** The first line of every documentation comment. */
function findDocs({ path, text }: SourceFile): string[] {
  return [...text.matchAll(/^[ \t]*\/\*\*(?:[ \t]+|\s*\*[ \t]+)(\S.*)$/gm)].map(
    ([, line]) => `${path}: ${line}`,
  )
}

function findWords({ path, text }: SourceFile, pattern: RegExp): string[] {
  const lines = text.split('\n')
  return lines.flatMap((line, at) =>
    [...line.matchAll(pattern)].map(() => `${path}:${at + 1}: ${line.trim()}`),
  )
}
