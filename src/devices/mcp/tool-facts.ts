import { hash } from 'node:crypto'
import type { Tool } from '@modelcontextprotocol/client'

/** The parts of a tool that a model reads. Anything else a server sends is ignored. */
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

/** Hashes tools independently of their order. */
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
