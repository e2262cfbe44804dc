import {
  changedText,
  fileChanges,
  isDirectory,
  lineCounts,
  modesText,
  type Trees,
} from '../server/diff-text/index.ts'
import type { CallContext, Change } from '../vfs/index.ts'
import { changeText } from './change-text.ts'
import { styled, type Terminal } from './terminal.ts'
import { counted } from './wording.ts'

/** How many changes are told one by one before the rest is only counted. */
const LISTED = 40

/** A line for each change with how many lines it adds and takes away, and the sum. */
export async function changeSummary(
  terminal: Terminal,
  changes: AsyncIterable<Change> | Iterable<Change>,
  trees: Trees,
  ctx: CallContext,
): Promise<string[]> {
  const lines: string[] = []
  let files = 0
  for await (const change of fileChanges(changes, trees, ctx)) {
    if (files++ >= LISTED) continue
    lines.push(`  ${changeText(terminal, change)}${await countText(terminal, change, trees, ctx)}`)
  }
  if (files > LISTED) lines.push(`  … and ${counted(files - LISTED, 'more', 'more')}`)
  return lines
}

async function countText(
  terminal: Terminal,
  change: Change,
  trees: Trees,
  ctx: CallContext,
): Promise<string> {
  const text = await changedText(change, trees, ctx)
  const { added, removed } = text.isBinary ? { added: 0, removed: 0 } : lineCounts(text)
  const more = added === 0 ? [] : [styled(terminal, 'green', `+${added}`)]
  const fewer = removed === 0 ? [] : [styled(terminal, 'red', `-${removed}`)]
  return aboutText(change, text.isBinary, [...more, ...fewer].join(' '))
}

/** What stands behind a changed path: `+12 -3`, or what it is if it has no lines, and new permissions. */
export function aboutText(change: Change, isBinary: boolean, lines: string): string {
  const modes = modesText(change)
  const what = isDirectory(change) ? 'directory' : isBinary ? 'binary' : lines
  const told = [what, modes === '' ? '' : `mode ${modes}`]
  return told.map((text) => (text === '' ? '' : `  ${text}`)).join('')
}
