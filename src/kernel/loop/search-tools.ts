import type { ToolDefinition } from './model.ts'

const MAX_RESULTS = 8
const MIN_STEM_LENGTH = 4
const COMMON_WORDS = new Set([
  'and',
  'are',
  'for',
  'from',
  'how',
  'into',
  'that',
  'the',
  'this',
  'tool',
  'with',
])

/** A tool with the number of words of a query that its name and its description contain. */
interface ToolMatch {
  readonly tool: ToolDefinition
  readonly count: number
  readonly inName: number
}

/**
 * Returns the tools that match most words of a query, best match first. One that matches fewer than half as many as
 * the best is left out.
 */
export function searchTools(query: string, tools: readonly ToolDefinition[]): ToolDefinition[] {
  const words = [...new Set(splitWords(query))].filter((word) => word.length > 2 && !COMMON_WORDS.has(word))
  const matches = tools.map((tool) => matchTool(tool, words))
  const most = Math.max(1, ...matches.map(({ count }) => count))
  return matches
    .filter(({ count }) => count * 2 >= most)
    .sort((one, other) => other.count - one.count || other.inName - one.inName)
    .slice(0, MAX_RESULTS)
    .map(({ tool }) => tool)
}

function matchTool(tool: ToolDefinition, words: readonly string[]): ToolMatch {
  const [name, description] = [splitWords(tool.name), splitWords(tool.description)]
  const inName = words.filter((word) => hasWord(name, word)).length
  return { tool, inName, count: words.filter((word) => hasWord([...name, ...description], word)).length }
}

/** Splits a text at everything but letters and digits: `lsp_rename` has two words. */
function splitWords(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []
}

/** True if a word is in a list, also in another form: `renames`, `renamed` for `rename`. */
function hasWord(words: readonly string[], wanted: string): boolean {
  return words.some(
    (word) => word.startsWith(wanted) || (word.length >= MIN_STEM_LENGTH && wanted.startsWith(word)),
  )
}
