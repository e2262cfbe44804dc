import {
  type CompleteRequest,
  CompleteRequestSchema,
  type CompleteResult,
} from '@modelcontextprotocol/sdk/types.js'
import type { McpFeature } from './mcp-feature.ts'

/** What the protocol lets an answer hold. */
const MAX_VALUES = 100

/** What may be completed, and what it could become: the best first. */
export type Completer = (
  of: Pick<CompleteRequest['params'], 'ref' | 'argument'>,
  signal: AbortSignal,
) => Promise<readonly string[]>

/** Completes arguments of prompts and resource templates while they are typed. */
export function createCompletionsFeature(complete: Completer): McpFeature {
  return {
    capabilities: { completions: {} },
    attach({ server }) {
      server.setRequestHandler(CompleteRequestSchema, async ({ params }, { signal }) =>
        toCompleteResult(await complete(params, signal)),
      )
    },
  }
}

function toCompleteResult(values: readonly string[]): CompleteResult {
  return {
    completion: {
      values: values.slice(0, MAX_VALUES),
      total: values.length,
      hasMore: values.length > MAX_VALUES,
    },
  }
}
