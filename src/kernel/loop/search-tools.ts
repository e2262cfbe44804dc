import type { ToolDefinition } from './model.ts'

const MAX_RESULTS = 8

/** Returns the tools whose name or description contain words of the query, best match first. */
export function searchTools(query: string, tools: readonly ToolDefinition[]): ToolDefinition[] {
  const words = [...new Set(query.toLowerCase().match(/[\p{L}\p{N}]{2,}/gu) ?? [])]
  return tools
    .map((tool) => ({ tool, score: scoreTool(tool, words) }))
    .filter(({ score }) => score > 0)
    .sort((one, other) => other.score - one.score)
    .slice(0, MAX_RESULTS)
    .map(({ tool }) => tool)
}

/** A word in the name counts more than one in the description. */
function scoreTool({ name, description }: ToolDefinition, words: readonly string[]): number {
  const [inName, inDescription] = [name.toLowerCase(), description.toLowerCase()]
  return words.reduce(
    (score, word) => score + (inName.includes(word) ? 3 : 0) + (inDescription.includes(word) ? 1 : 0),
    0,
  )
}
