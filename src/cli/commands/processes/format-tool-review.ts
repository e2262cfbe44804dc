import type { DaemonMethods } from '../../../daemon/client/index.ts'
import { formatUnifiedDiff } from '../../../diff/index.ts'
import { escapeName, escapeText } from '../../../text/index.ts'
import { applyStyle, type Terminal } from '../../framework/terminal.ts'
import { formatCount } from '../../render/format-values.ts'

type Review = DaemonMethods['mcp_inspect']['result']
type Change = Review['changes'][number]
type Tool = NonNullable<Change['after']>

const stateHeadings: Readonly<Record<Review['state'], string>> = {
  new: 'not approved yet',
  approved: 'as approved',
  changed: 'different from what was approved',
}

/** Formats a review: a diff of each tool that differs from its approved description. */
export function formatToolReview(terminal: Terminal, review: Review): string {
  const { agent, server, state, tools, changes } = review
  const head = `${agent}/${server}: ${formatCount(tools, 'tool')}; ${stateHeadings[state]}`
  return [head, ...changes.flatMap((change) => formatToolChange(terminal, change))].join('\n')
}

function formatToolChange(terminal: Terminal, { name, kind, before, after, warning }: Change): string[] {
  const lines = formatUnifiedDiff(formatTool(before), formatTool(after))
  return [
    '',
    applyStyle(terminal, 'bold', `${kind}: ${escapeName(name)}`),
    ...(warning === null ? [] : [applyStyle(terminal, 'red', `warning: ${escapeText(warning)}`)]),
    ...lines.map((line) => styleDiffLine(terminal, escapeText(line))),
  ]
}

/** Formats a tool as lines to compare: its description, then its arguments and results. */
function formatTool(tool: Tool | null): string {
  if (tool === null) return ''
  const { title, description = '', annotations, inputSchema, outputSchema } = tool
  const parts: readonly (readonly [string, unknown])[] = [
    ['annotations', annotations],
    ['arguments', inputSchema],
    ['result', outputSchema],
  ]
  const lines = parts.flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}: ${JSON.stringify(value, null, 2)}`],
  )
  return [...(title === undefined ? [] : [`title: ${title}`]), description, ...lines, ''].join('\n')
}

function styleDiffLine(terminal: Terminal, line: string): string {
  if (line.startsWith('+')) return applyStyle(terminal, 'green', line)
  return line.startsWith('-') ? applyStyle(terminal, 'red', line) : line
}
