import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { ts } from '@ts-morph/common'
import { printSignature } from './api-signature.ts'

/** An exported name: its declaration without bodies, private members and comments, and its documentation. */
export interface ApiName {
  readonly name: string
  /** Source file and position, which tell two declarations of one name apart. */
  readonly id: string
  readonly file: string
  readonly kind: 'class' | 'function' | 'type' | 'value'
  readonly signature: string
  /** Text of its doc comment; empty if it has none. */
  readonly doc: string
}

/** A subpath of the package with everything it exports, by name. */
export interface ApiEntry {
  /** As it is imported: `coppice`, `coppice/vfs`. */
  readonly subpath: string
  /** Doc comment on top of the entry. */
  readonly doc: string
  readonly names: readonly ApiName[]
}

const OPTIONS: ts.CompilerOptions = {
  target: ts.ScriptTarget.ESNext,
  module: ts.ModuleKind.ESNext,
  noLib: true,
  types: [],
}

/** Reads the exports of every subpath in `package.json` from the sources. */
export function readPublicApi(root: string): ApiEntry[] {
  const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const entries = Object.entries<string | Record<string, string>>(exports).flatMap(([key, target]) =>
    typeof target === 'string'
      ? []
      : [{ subpath: key.replace('.', 'coppice'), path: join(root, target['coppice-source'] ?? '') }],
  )
  const program = createProgram(entries.map(({ path }) => path))
  const checker = program.getTypeChecker()
  return entries.map(({ subpath, path }) => {
    const file = program.getSourceFile(path)
    const symbol = file && checker.getSymbolAtLocation(file)
    if (file === undefined || symbol === undefined) throw new Error(`${subpath}: ${path} is not a module`)
    const exported = checker.getExportsOfModule(symbol).map((name) => {
      const target = name.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(name) : name
      return describeName(root, name.name, target, isTypeOnly(name, checker))
    })
    return {
      subpath,
      doc: cleanComment(/^\/\*\*.*?\*\//s.exec(file.text)?.[0] ?? ''),
      names: exported.sort((a, b) => (a.name < b.name ? -1 : 1)),
    }
  })
}

/** Loads the sources and nothing else: the types of packages are not part of the report. */
function createProgram(roots: readonly string[]): ts.Program {
  const host: ts.CompilerHost = {
    ...ts.createCompilerHost(OPTIONS),
    resolveModuleNameLiterals: (literals, from) =>
      literals.map(({ text }) => ({ resolvedModule: resolveSource(text, from) })),
  }
  return ts.createProgram([...roots], OPTIONS, host)
}

function resolveSource(specifier: string, from: string): ts.ResolvedModuleFull | undefined {
  const path = join(dirname(from), specifier)
  if (!specifier.startsWith('.') || !existsSync(path)) return undefined
  return { resolvedFileName: path, extension: ts.Extension.Ts, isExternalLibraryImport: false }
}

/** True if a name is exported as a type alone, at any step from its declaration to the entry. */
function isTypeOnly(symbol: ts.Symbol, checker: ts.TypeChecker): boolean {
  if (!(symbol.flags & ts.SymbolFlags.Alias)) return false
  if (symbol.declarations?.some(ts.isTypeOnlyImportOrExportDeclaration)) return true
  const next = checker.getImmediateAliasedSymbol(symbol)
  return next !== undefined && isTypeOnly(next, checker)
}

function describeName(root: string, name: string, symbol: ts.Symbol, asType: boolean): ApiName {
  const [first] = symbol.declarations ?? []
  if (first === undefined) throw new Error(`${name} has no declaration`)
  const file = relative(root, first.getSourceFile().fileName)
  return {
    name,
    id: `${file}#${symbol.name}`,
    file,
    kind: getKind(first),
    signature: listCallable(symbol.declarations ?? [])
      .map((node) => printSignature(node, asType))
      .join('\n'),
    doc: readDoc(first),
  }
}

/** All declarations, or the overloads of a function without its implementation. */
function listCallable(declarations: readonly ts.Declaration[]): readonly ts.Declaration[] {
  const overloads = declarations.filter((node) => !ts.isFunctionDeclaration(node) || node.body === undefined)
  return overloads.length > 0 ? overloads : declarations
}

function getKind(node: ts.Declaration): ApiName['kind'] {
  if (ts.isClassDeclaration(node)) return 'class'
  if (ts.isFunctionDeclaration(node)) return 'function'
  return ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node) ? 'type' : 'value'
}

/** Text of the doc comment that belongs to a declaration. */
function readDoc(declaration: ts.Declaration): string {
  const node = ts.isVariableDeclaration(declaration) ? declaration.parent.parent : declaration
  const text = node.getSourceFile().text
  const comments = ts.getLeadingCommentRanges(text, node.getFullStart()) ?? []
  const last = comments
    .map(({ pos, end }) => text.slice(pos, end))
    .findLast((comment) => comment.startsWith('/**'))
  return cleanComment(last ?? '')
}

function cleanComment(comment: string): string {
  return comment
    .replace(/^\/\*\*|\*\/$/g, '')
    .split('\n')
    .map((line) => line.replace(/^\s*\* ?/, '').trimEnd())
    .join('\n')
    .trim()
}
