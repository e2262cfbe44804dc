import {
  CallHierarchyIncomingCallsRequest,
  type CallHierarchyItem,
  CallHierarchyOutgoingCallsRequest,
  CallHierarchyPrepareRequest,
  DefinitionRequest,
  HoverRequest,
  ImplementationRequest,
  type Location,
  type LocationLink,
  type MarkedString,
  type MarkupContent,
  type Range,
  ReferencesRequest,
  type TextDocumentPositionParams,
} from 'vscode-languageserver-protocol/node'
import { formatSymbolKind, type LspQueryContext, MAX_REPORTED } from './symbols.ts'
import type { SourceLocation, WorkspaceFiles } from './workspace-files.ts'

/** A query about a position in a file. */
export interface PositionQuery {
  readonly description: string
  ask(position: TextDocumentPositionParams, context: LspQueryContext): Promise<unknown>
}

export const positionQueries: Readonly<Record<string, PositionQuery>> = {
  goToDefinition: {
    description: 'Find the definition of the symbol at a position.',
    ask: async (position, { server, files, signal }) =>
      formatLocations(await server.ask(DefinitionRequest.type, position, signal), files),
  },
  goToImplementation: {
    description: 'Find the implementations of the interface or method at a position.',
    ask: async (position, { server, files, signal }) =>
      formatLocations(await server.ask(ImplementationRequest.type, position, signal), files),
  },
  findReferences: {
    description: 'Find all references to the symbol at a position.',
    ask: async (position, { server, files, signal }) => {
      const params = { ...position, context: { includeDeclaration: true } }
      return formatLocations(await server.ask(ReferencesRequest.type, params, signal), files)
    },
  },
  hover: {
    description: 'Read the type and documentation of the symbol at a position.',
    ask: async (position, { server, signal }) => {
      const hover = await server.ask(HoverRequest.type, position, signal)
      return { text: hover === null ? '' : formatHover(hover.contents) }
    },
  },
  prepareCallHierarchy: {
    description: 'Find the function at a position, for queries about its calls.',
    ask: async (position, context) => ({
      items: await Promise.all(
        (await prepareCallItems(position, context)).map((item) => formatCallItem(item, context.files)),
      ),
    }),
  },
  incomingCalls: {
    description: 'Find the callers of the function at a position.',
    ask: (position, context) =>
      formatCalls(position, context, async (item, { server, files, signal }) => {
        const found = (await server.ask(CallHierarchyIncomingCallsRequest.type, { item }, signal)) ?? []
        return found.map(({ from, fromRanges }) => formatCall('from', from, fromRanges, files))
      }),
  },
  outgoingCalls: {
    description: 'Find the functions that the function at a position calls.',
    ask: (position, context) =>
      formatCalls(position, context, async (item, { server, files, signal }) => {
        const found = (await server.ask(CallHierarchyOutgoingCallsRequest.type, { item }, signal)) ?? []
        return found.map(({ to, fromRanges }) => formatCall('to', to, fromRanges, files))
      }),
  },
}

async function formatLocations(
  found: Location | readonly (Location | LocationLink)[] | null,
  files: WorkspaceFiles,
): Promise<unknown> {
  const all = found === null ? [] : 'uri' in found ? [found] : found
  const reported = all
    .slice(0, MAX_REPORTED)
    .map((location) =>
      'uri' in location
        ? files.formatLocation(location.uri, location.range)
        : files.formatLocation(location.targetUri, location.targetSelectionRange),
    )
  return { locations: await Promise.all(reported), count: all.length }
}

async function prepareCallItems(
  position: TextDocumentPositionParams,
  { server, signal }: LspQueryContext,
): Promise<CallHierarchyItem[]> {
  return (await server.ask(CallHierarchyPrepareRequest.type, position, signal)) ?? []
}

/** Formats the calls of each function at a position. */
async function formatCalls(
  position: TextDocumentPositionParams,
  context: LspQueryContext,
  findCalls: (item: CallHierarchyItem, context: LspQueryContext) => Promise<Promise<unknown>[]>,
): Promise<unknown> {
  const items = await prepareCallItems(position, context)
  const found = (await Promise.all(items.map((item) => findCalls(item, context)))).flat()
  return { calls: await Promise.all(found.slice(0, MAX_REPORTED)), count: found.length }
}

async function formatCall(
  end: 'from' | 'to',
  item: CallHierarchyItem,
  ranges: readonly Range[],
  files: WorkspaceFiles,
): Promise<unknown> {
  return { [end]: await formatCallItem(item, files), lines: ranges.map(({ start }) => start.line + 1) }
}

async function formatCallItem(
  { name, kind, uri, selectionRange }: CallHierarchyItem,
  files: WorkspaceFiles,
): Promise<SourceLocation & { readonly name: string; readonly kind: string }> {
  return { name, kind: formatSymbolKind(kind), ...(await files.formatLocation(uri, selectionRange)) }
}

function formatHover(contents: MarkupContent | MarkedString | readonly MarkedString[]): string {
  if (typeof contents === 'string') return contents
  if ('kind' in contents) return contents.value
  if ('language' in contents) return `\`\`\`${contents.language}\n${contents.value}\n\`\`\``
  return contents.map(formatHover).join('\n\n')
}
