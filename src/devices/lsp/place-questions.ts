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
import { type Asked, kindName, MAX_TOLD } from './symbols.ts'
import type { ToldPlace, WorkspaceFiles } from './workspace-files.ts'

/** A question about a place in a file. */
export interface PlaceQuestion {
  readonly description: string
  ask(at: TextDocumentPositionParams, asked: Asked): Promise<unknown>
}

export const placeQuestions: Readonly<Record<string, PlaceQuestion>> = {
  goToDefinition: {
    description: 'Find where the symbol at a place is defined.',
    ask: async (at, { server, files, signal }) =>
      locations(await server.ask(DefinitionRequest.type, at, signal), files),
  },
  goToImplementation: {
    description: 'Find what implements the interface or method at a place.',
    ask: async (at, { server, files, signal }) =>
      locations(await server.ask(ImplementationRequest.type, at, signal), files),
  },
  findReferences: {
    description: 'Find all places that refer to the symbol at a place.',
    ask: async (at, { server, files, signal }) => {
      const params = { ...at, context: { includeDeclaration: true } }
      return locations(await server.ask(ReferencesRequest.type, params, signal), files)
    },
  },
  hover: {
    description: 'Read the type and documentation of the symbol at a place.',
    ask: async (at, { server, signal }) => {
      const hover = await server.ask(HoverRequest.type, at, signal)
      return { text: hover === null ? '' : textOf(hover.contents) }
    },
  },
  prepareCallHierarchy: {
    description: 'Find the function at a place, as calls to and from it are asked for.',
    ask: async (at, asked) => ({
      items: await Promise.all((await callItems(at, asked)).map((item) => symbolAt(item, asked.files))),
    }),
  },
  incomingCalls: {
    description: 'Find what calls the function at a place.',
    ask: (at, asked) =>
      calls(at, asked, async (item, { server, files, signal }) => {
        const found = (await server.ask(CallHierarchyIncomingCallsRequest.type, { item }, signal)) ?? []
        return found.map(({ from, fromRanges }) => callTold('from', from, fromRanges, files))
      }),
  },
  outgoingCalls: {
    description: 'Find what the function at a place calls.',
    ask: (at, asked) =>
      calls(at, asked, async (item, { server, files, signal }) => {
        const found = (await server.ask(CallHierarchyOutgoingCallsRequest.type, { item }, signal)) ?? []
        return found.map(({ to, fromRanges }) => callTold('to', to, fromRanges, files))
      }),
  },
}

async function locations(
  found: Location | readonly (Location | LocationLink)[] | null,
  files: WorkspaceFiles,
): Promise<unknown> {
  const all = found === null ? [] : 'uri' in found ? [found] : found
  const told = all
    .slice(0, MAX_TOLD)
    .map((location) =>
      'uri' in location
        ? files.told(location.uri, location.range)
        : files.told(location.targetUri, location.targetSelectionRange),
    )
  return { locations: await Promise.all(told), count: all.length }
}

async function callItems(
  at: TextDocumentPositionParams,
  { server, signal }: Asked,
): Promise<CallHierarchyItem[]> {
  return (await server.ask(CallHierarchyPrepareRequest.type, at, signal)) ?? []
}

/** The calls of each function at a place. */
async function calls(
  at: TextDocumentPositionParams,
  asked: Asked,
  callsOf: (item: CallHierarchyItem, asked: Asked) => Promise<Promise<unknown>[]>,
): Promise<unknown> {
  const items = await callItems(at, asked)
  const found = (await Promise.all(items.map((item) => callsOf(item, asked)))).flat()
  return { calls: await Promise.all(found.slice(0, MAX_TOLD)), count: found.length }
}

async function callTold(
  end: 'from' | 'to',
  item: CallHierarchyItem,
  ranges: readonly Range[],
  files: WorkspaceFiles,
): Promise<unknown> {
  return { [end]: await symbolAt(item, files), lines: ranges.map(({ start }) => start.line + 1) }
}

async function symbolAt(
  { name, kind, uri, selectionRange }: CallHierarchyItem,
  files: WorkspaceFiles,
): Promise<ToldPlace & { readonly name: string; readonly kind: string }> {
  return { name, kind: kindName(kind), ...(await files.told(uri, selectionRange)) }
}

function textOf(contents: MarkupContent | MarkedString | readonly MarkedString[]): string {
  if (typeof contents === 'string') return contents
  if ('kind' in contents) return contents.value
  if ('language' in contents) return `\`\`\`${contents.language}\n${contents.value}\n\`\`\``
  return contents.map(textOf).join('\n\n')
}
