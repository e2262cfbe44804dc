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

/** Limit of reported symbols, locations or calls; beyond it only the count is complete. */
export const MAX_REPORTED = 200

/** Server and files that a query uses. */
export interface LspQueryContext {
  readonly server: LanguageServer
  readonly files: WorkspaceFiles
  readonly signal: AbortSignal
}

/** Lists the symbols declared in a document, in document order. */
export async function listDocumentSymbols(
  uri: string,
  { server, files, signal }: LspQueryContext,
): Promise<unknown> {
  const found = (await server.ask(DocumentSymbolRequest.type, { textDocument: { uri } }, signal)) ?? []
  const symbols = found.flatMap((symbol) => flattenSymbol(symbol, uri))
  // Some servers return flat symbols in another order.
  return formatSymbols(
    symbols.sort((one, other) => one.range.start.line - other.range.start.line),
    files,
  )
}

/** Finds symbols of the workspace by name. */
export async function findWorkspaceSymbols(
  query: string,
  { server, files, signal }: LspQueryContext,
): Promise<unknown> {
  const symbols = (await server.ask(WorkspaceSymbolRequest.type, { query }, signal)) ?? []
  return formatSymbols(
    symbols.flatMap((symbol) => flattenSymbol(symbol, '')),
    files,
  )
}

/** Common form of the three kinds of symbols. */
interface FlatSymbol {
  readonly name: string
  readonly kind: SymbolKind
  readonly uri: string
  readonly range: Range
  readonly container?: string | undefined
}

/** Range of a symbol whose server names its file alone. */
const EMPTY_RANGE: Range = { start: { line: 0, character: 0 }, end: { line: 0, character: 0 } }

function flattenSymbol(
  symbol: DocumentSymbol | SymbolInformation | WorkspaceSymbol,
  uri: string,
  container?: string,
): FlatSymbol[] {
  const { name, kind } = symbol
  if ('location' in symbol) {
    const { location, containerName } = symbol
    const range = 'range' in location ? location.range : EMPTY_RANGE
    return [{ name, kind, uri: location.uri, range, container: containerName }]
  }
  const children = (symbol.children ?? []).flatMap((child) => flattenSymbol(child, uri, name))
  return [{ name, kind, uri, range: symbol.selectionRange, container }, ...children]
}

async function formatSymbols(symbols: readonly FlatSymbol[], files: WorkspaceFiles): Promise<unknown> {
  const reported = symbols.slice(0, MAX_REPORTED).map(async ({ name, kind, uri, range, container }) => ({
    name,
    kind: formatSymbolKind(kind),
    ...(container !== undefined && container !== '' && { container }),
    ...(await files.formatLocation(uri, range)),
  }))
  return { symbols: await Promise.all(reported), count: symbols.length }
}

const kindNames = new Map(Object.entries(SymbolKind).map(([name, kind]) => [kind, name.toLowerCase()]))

export function formatSymbolKind(kind: SymbolKind): string {
  return kindNames.get(kind) ?? 'symbol'
}
