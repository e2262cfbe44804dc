import type { DaemonMethods } from '../server/daemon/client/index.ts'
import { unifiedDiff } from '../server/diff-text/index.ts'
import { escapedText, shown } from '../server/text/index.ts'
import { styled, type Terminal } from './terminal.ts'
import { counted } from './wording.ts'

type Review = DaemonMethods['mcp_inspect']['result']
type Change = Review['changes'][number]
type Tool = NonNullable<Change['after']>

const headings: Readonly<Record<Review['state'], string>> = {
  new: 'nothing of it was approved yet',
  approved: 'it says what was approved',
  changed: 'it does not say what was approved',
}

/** What a server says about its tools beside what was approved: a diff of each tool that is another. */
export function toolReviewText(terminal: Terminal, review: Review): string {
  const { agent, server, state, tools, changes } = review
  const head = `${agent}/${server}: ${counted(tools, 'tool')}; ${headings[state]}`
  return [head, ...changes.flatMap((change) => changeLines(terminal, change))].join('\n')
}

function changeLines(terminal: Terminal, { name, kind, before, after, warning }: Change): string[] {
  const lines = unifiedDiff(toolText(before), toolText(after))
  return [
    '',
    styled(terminal, 'bold', `${kind}: ${shown(name)}`),
    ...(warning === null ? [] : [styled(terminal, 'red', `warning: ${escapedText(warning)}`)]),
    ...lines.map((line) => styledLine(terminal, escapedText(line))),
  ]
}

/** A tool as lines, so that they can be compared: what it says of itself first, then its arguments and results. */
function toolText(tool: Tool | null): string {
  if (tool === null) return ''
  const { title, description = '', annotations, inputSchema, outputSchema } = tool
  const parts: readonly (readonly [string, unknown])[] = [
    ['annotations', annotations],
    ['arguments', inputSchema],
    ['result', outputSchema],
  ]
  const told = parts.flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}: ${JSON.stringify(value, null, 2)}`],
  )
  return [...(title === undefined ? [] : [`title: ${title}`]), description, ...told, ''].join('\n')
}

function styledLine(terminal: Terminal, line: string): string {
  if (line.startsWith('+')) return styled(terminal, 'green', line)
  return line.startsWith('-') ? styled(terminal, 'red', line) : line
}
