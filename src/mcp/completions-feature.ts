import type { CompleteRequest, CompleteResult } from '@modelcontextprotocol/server'
import type { McpFeature } from './mcp-feature.ts'

/** The protocol's limit of values. */
const MAX_VALUES = 100

/** Returns completions of an argument, best first. */
export type Completer = (
  target: Pick<CompleteRequest['params'], 'ref' | 'argument'>,
  signal: AbortSignal,
) => Promise<readonly string[]>

/** Completes arguments of prompts and resource templates while they are typed. */
export function createCompletionsFeature(complete: Completer): McpFeature {
  return {
    capabilities: { completions: {} },
    attach({ server }) {
      server.setRequestHandler('completion/complete', async ({ params }, { mcpReq }) =>
        toCompleteResult(await complete(params, mcpReq.signal)),
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
