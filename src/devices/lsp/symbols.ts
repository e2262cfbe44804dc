import {
  type DocumentSymbol,
  DocumentSymbolRequest,
  type Range,
  type SymbolInformation,
  SymbolKind,
  type WorkspaceSymbol,
  WorkspaceSymbolRequest,
} from 'vscode-languageserver-protocol/node'
import type { LanguageServer } from './language-server.ts'
import type { WorkspaceFiles } from './workspace-files.ts'

/** Of more than these, only how many there are is told. */
export const MAX_TOLD = 200

/** What a question is asked with. */
export interface Asked {
  readonly server: LanguageServer
  readonly files: WorkspaceFiles
  readonly signal: AbortSignal
}

/** What is declared in a document, in its order. */
export async function documentSymbols(uri: string, { server, files, signal }: Asked): Promise<unknown> {
  const found = (await server.ask(DocumentSymbolRequest.type, { textDocument: { uri } }, signal)) ?? []
  const symbols = found.flatMap((symbol) => flat(symbol, uri))
  // Some servers tell them by their names.
  return toldSymbols(
    symbols.sort((one, other) => one.range.start.line - other.range.start.line),
    files,
  )
}

/** What is declared anywhere under names like this. */
export async function workspaceSymbols(query: string, { server, files, signal }: Asked): Promise<unknown> {
  const symbols = (await server.ask(WorkspaceSymbolRequest.type, { query }, signal)) ?? []
  return toldSymbols(
    symbols.flatMap((symbol) => flat(symbol, '')),
    files,
  )
}

/** A symbol wherever it was found, in the form the three kinds of symbols share. */
interface FlatSymbol {
  readonly name: string
  readonly kind: SymbolKind
  readonly uri: string
  readonly range: Range
  readonly container?: string | undefined
}

const NOWHERE: Range = { start: { line: 0, character: 0 }, end: { line: 0, character: 0 } }

function flat(
  symbol: DocumentSymbol | SymbolInformation | WorkspaceSymbol,
  uri: string,
  container?: string,
): FlatSymbol[] {
  const { name, kind } = symbol
  if ('location' in symbol) {
    const { location, containerName } = symbol
    const range = 'range' in location ? location.range : NOWHERE
    return [{ name, kind, uri: location.uri, range, container: containerName }]
  }
  const children = (symbol.children ?? []).flatMap((child) => flat(child, uri, name))
  return [{ name, kind, uri, range: symbol.selectionRange, container }, ...children]
}

async function toldSymbols(symbols: readonly FlatSymbol[], files: WorkspaceFiles): Promise<unknown> {
  const told = symbols.slice(0, MAX_TOLD).map(async ({ name, kind, uri, range, container }) => ({
    name,
    kind: kindName(kind),
    ...(container !== undefined && container !== '' && { container }),
    ...(await files.told(uri, range)),
  }))
  return { symbols: await Promise.all(told), count: symbols.length }
}

const kindNames = new Map(Object.entries(SymbolKind).map(([name, kind]) => [kind, name.toLowerCase()]))

export function kindName(kind: SymbolKind): string {
  return kindNames.get(kind) ?? 'symbol'
}
