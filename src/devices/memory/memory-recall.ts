import { z } from 'zod'
import type { DeviceContext } from '../../kernel/index.ts'
import { VfsError } from '../../vfs/index.ts'
import { type DeviceOperation, defineOperation } from '../operation/index.ts'
import { type OpenScope, scopeNames } from './memory-scope.ts'
import { rankItems } from './ranking.ts'

const DEFAULT_RESULTS = 20
const MAX_RESULTS = 100
/** Limit of a passage; a longer one is split, if possible at the end of a paragraph, a line or a word. */
const MAX_PASSAGE_CHARACTERS = 1000

/** A passage of memory or of a past conversation. */
export interface MemoryPassage {
  readonly text: string
  /** Source of the passage: a scope of memory, a process. */
  readonly source: string
  /** Tool or page that the passage came from. */
  readonly origin?: string
}

/** Yields passages of past processes. May omit those without a word of the query. */
export type PassageHistory = (query: string, signal: AbortSignal) => AsyncIterable<MemoryPassage>

/** Summarizes passages with respect to a query. */
export type Summarize = (
  query: string,
  passages: readonly MemoryPassage[],
  signal: AbortSignal,
) => Promise<string>

/** Creates the operation that finds memories and past passages. It changes nothing. */
export function createRecallOperation(
  openScope: OpenScope,
  history: PassageHistory | undefined,
  summarize: Summarize | undefined,
): DeviceOperation {
  return defineOperation({
    description: 'Searches the memory and the history of past processes.',
    schema: z.strictObject({
      query: z.string().trim().min(1).max(1000).describe('Words to search for.'),
      max_results: z.int().min(1).max(MAX_RESULTS).default(DEFAULT_RESULTS),
      summarize: z.boolean().default(false).describe('True if a model should summarize the findings.'),
    }),
    run: async ({ query, max_results, summarize: wantsSummary }, { ctx, signal }) => {
      if (wantsSummary && summarize === undefined) throw createNoModelError()
      const found = rankItems(query, await collectPassages(openScope, ctx, history?.(query, signal)))
      const entries = found
        .slice(0, max_results)
        .map(({ item, score }) => ({ ...item, score: Number(score.toFixed(3)) }))
      if (!wantsSummary || summarize === undefined || entries.length === 0) return { entries }
      return { entries, ...(await trySummarize(summarize, query, entries, signal)) }
    },
  })
}

/** Summarizes the findings. A model that fails does not lose them: its failure stands beside them. */
async function trySummarize(
  summarize: Summarize,
  query: string,
  entries: readonly MemoryPassage[],
  signal: AbortSignal,
): Promise<{ readonly summary: string } | { readonly summary_error: string }> {
  try {
    return { summary: await summarize(query, entries, signal) }
  } catch (error) {
    signal.throwIfAborted()
    return { summary_error: error instanceof Error ? error.message : String(error) }
  }
}

async function collectPassages(
  openScope: OpenScope,
  ctx: DeviceContext,
  history: AsyncIterable<MemoryPassage> | undefined,
): Promise<MemoryPassage[]> {
  const passages: MemoryPassage[] = []
  for (const name of scopeNames) {
    const entries = await (await openScope(name, ctx)).entries()
    passages.push(...entries.map((entry) => ({ ...entry, source: name })))
  }
  for await (const passage of history ?? [])
    for (const text of splitPassage(passage.text)) passages.push({ ...passage, text })
  return passages
}

function splitPassage(text: string): string[] {
  const parts: string[] = []
  for (let rest = text.trim(); rest !== ''; ) {
    const cut = rest.length <= MAX_PASSAGE_CHARACTERS ? rest.length : findCut(rest)
    parts.push(rest.slice(0, cut).trim())
    rest = rest.slice(cut).trim()
  }
  return parts
}

function findCut(text: string): number {
  const ends = ['\n\n', '\n', ' '].map((end) => text.lastIndexOf(end, MAX_PASSAGE_CHARACTERS))
  return ends.find((end) => end > MAX_PASSAGE_CHARACTERS / 2) ?? MAX_PASSAGE_CHARACTERS
}

function createNoModelError(): VfsError {
  const detail = 'there is no model to summarize with; leave out summarize'
  return new VfsError('EUNAVAILABLE', '/dev/memory/recall', { op: 'write', detail })
}
