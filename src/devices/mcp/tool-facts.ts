import { hash } from 'node:crypto'
import type { Tool } from '@modelcontextprotocol/sdk/types.js'

/** What of a tool a model gets to read. Whatever else a server says of it is passed over. */
export type ToolFacts = Pick<
  Tool,
  'name' | 'title' | 'description' | 'inputSchema' | 'outputSchema' | 'annotations'
>

export function pickToolFacts({
  name,
  title,
  description,
  inputSchema,
  outputSchema,
  annotations,
}: Tool): ToolFacts {
  return { name, title, description, inputSchema, outputSchema, annotations }
}

/** The same for the same facts, whatever order they come in. */
export function hashTools(tools: readonly ToolFacts[]): string {
  return hash('sha256', tools.map(toCanonicalJson).sort().join('\n'))
}

export function isSameTool(one: ToolFacts, other: ToolFacts): boolean {
  return toCanonicalJson(one) === toCanonicalJson(other)
}

function toCanonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([one], [other]) => (one < other ? -1 : 1)))
      : inner,
  )
}
