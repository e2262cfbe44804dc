import {
  countChangedLines,
  formatModes,
  isDirectoryChange,
  listFileChanges,
  readChangedText,
  type TreePair,
} from '../../diff/index.ts'
import { separateGitChanges } from '../../git-files/index.ts'
import { type CallContext, collapseChanges, type PathChange } from '../../vfs/index.ts'
import { applyStyle, type Terminal } from '../framework/terminal.ts'
import { formatChange, formatCollapsed } from './format-change.ts'
import { formatGitLines } from './format-git.ts'
import { formatCount } from './format-values.ts'

/** Changes to list; the rest is counted. */
const MAX_LISTED = 40

/** Formats a line per change with its added and removed lines, one for each large directory, and one for git. */
export async function formatChangeSummary(
  terminal: Terminal,
  changes: AsyncIterable<PathChange> | Iterable<PathChange>,
  trees: TreePair,
  ctx: CallContext,
): Promise<string[]> {
  const { changes: others, git } = await separateGitChanges(changes, trees, ctx)
  const collapsed = await collapseChanges(others, trees, ctx)
  const lines = collapsed.directories.map((directory) => `  ${formatCollapsed(terminal, directory)}`)
  let files = 0
  for await (const change of listFileChanges(collapsed.changes, trees, ctx)) {
    if (files++ >= MAX_LISTED) continue
    lines.push(`  ${formatChange(terminal, change)}${await formatLineCounts(terminal, change, trees, ctx)}`)
  }
  if (files > MAX_LISTED) lines.push(`  … and ${formatCount(files - MAX_LISTED, 'more', 'more')}`)
  return [...lines, ...formatGitLines(git).map((line) => `  ${line}`)]
}

async function formatLineCounts(
  terminal: Terminal,
  change: PathChange,
  trees: TreePair,
  ctx: CallContext,
): Promise<string> {
  const text = await readChangedText(change, trees, ctx)
  const { added, removed } = text.isBinary ? { added: 0, removed: 0 } : countChangedLines(text)
  const more = added === 0 ? [] : [applyStyle(terminal, 'green', `+${added}`)]
  const fewer = removed === 0 ? [] : [applyStyle(terminal, 'red', `-${removed}`)]
  return formatChangeDetails(change, text.isBinary, [...more, ...fewer].join(' '))
}

/** Formats the details of a change: `+12 -3`, or its type, and new permissions. */
export function formatChangeDetails(change: PathChange, isBinary: boolean, lines: string): string {
  const modes = formatModes(change)
  const what = isDirectoryChange(change) ? 'directory' : isBinary ? 'binary' : lines
  const parts = [what, modes === '' ? '' : `mode ${modes}`]
  return parts.map((text) => (text === '' ? '' : `  ${text}`)).join('')
}
