import { isText } from '../../../backends/vault/index.ts'
import { applyHunk, formatHunk, formatModes, type Hunk, listHunks, splitLines } from '../../../diff/index.ts'
import { escapeName } from '../../../text/index.ts'
import type { ChangeSelection, PickedFile, TreeChange } from '../../../workspace/index.ts'

type Entry = NonNullable<TreeChange['after']>

/** Larger files are picked as a whole. */
const MAX_TEXT_BYTES = 16 * 2 ** 20

/** A question of `apply -p`: hunks of a file, or a change that has none. */
export interface PickedQuestion {
  readonly change: TreeChange
  /** The file and how it changes, in one or two lines. */
  readonly header: readonly string[]
  /** The lines before the change. They have a character for each byte. */
  readonly old: readonly string[]
  /** Empty for a change that is picked as a whole. */
  readonly hunks: readonly Hunk[]
}

/** Lists what a person is asked about. Directories follow their entries, unless they have none that changed. */
export function listQuestions(changes: readonly TreeChange[]): PickedQuestion[] {
  const replaced = changes.filter(
    ({ before, after }) => before?.type === 'directory' && after !== undefined && after.type !== 'directory',
  )
  const isBelowReplaced = ({ path }: TreeChange) =>
    replaced.some((directory) => path.startsWith(`${directory.path}/`))
  return changes
    .filter((change) => !followsEntries(change, changes) && !isBelowReplaced(change))
    .map(toQuestion)
}

/** Returns the lines of a hunk as they are shown. */
export function formatPickedHunk({ old }: PickedQuestion, hunk: Hunk): string[] {
  return formatHunk(hunk, old).map((line) => Buffer.from(line, 'latin1').toString())
}

/** Returns the selection for an apply: whole changes, and files with some of their hunks. */
export function toSelection(
  changes: readonly TreeChange[],
  answers: ReadonlyMap<PickedQuestion, readonly Hunk[] | 'all'>,
): Required<ChangeSelection> {
  const paths: string[] = []
  const picks: PickedFile[] = []
  for (const [question, answer] of answers) {
    const { path } = question.change
    const count = question.hunks.flat().length
    if (answer === 'all' || (count > 0 && answer.flat().length === count)) paths.push(path)
    else if (answer.length > 0) picks.push({ path, ...pickLines(question, answer) })
  }
  const taken = new Set(paths)
  // A removed directory goes once everything in it does.
  for (const { path } of changes.toReversed().filter(isRemovedDirectory)) {
    const below = changes.filter((change) => change.path.startsWith(`${path}/`))
    if (below.length > 0 && below.every((change) => taken.has(change.path))) taken.add(path)
  }
  return { paths: [...taken], picks }
}

function toQuestion(change: TreeChange): PickedQuestion {
  const { path, before, after } = change
  const [name, kind] = [escapeName(path), formatKind(before, after)]
  const [old, current] = [readLines(before), readLines(after)]
  const isText =
    before?.type === 'file' && after?.type === 'file' && old !== undefined && current !== undefined
  const hunks = isText ? listHunks(old, current) : []
  return { change, header: [`${kind} ${name}`], old: old ?? [], hunks }
}

function formatKind(before: Entry | undefined, after: Entry | undefined): string {
  const type = (after ?? before)?.type === 'symlink' ? 'link' : ((after ?? before)?.type ?? 'file')
  if (before === undefined) return `new ${type}`
  if (after === undefined) return `removed ${type}`
  const modes =
    before.mode === after.mode || after.type === 'symlink'
      ? ''
      : ` (mode ${formatModes({ kind: 'modified', path: '/', before: toStat(before), after: toStat(after) })})`
  return `changed ${type}${modes}`
}

function toStat({ type, size, mode }: Entry): {
  type: Entry['type']
  size: number
  mode: number
  mtime: Date
} {
  return { type, size, mode, mtime: new Date(0) }
}

/** Reads the lines of a text, with a character for each byte; undefined for anything else. */
function readLines(entry: Entry | undefined): string[] | undefined {
  if (entry?.type !== 'file' || entry.size > MAX_TEXT_BYTES) return undefined
  const bytes = Buffer.concat([...entry.content()])
  return isText(bytes) ? splitLines(bytes.toString('latin1')) : undefined
}

function pickLines({ old }: PickedQuestion, hunks: readonly Hunk[]): Omit<PickedFile, 'path'> {
  const changes = hunks.flat().toSorted((one, other) => one.oldStart - other.oldStart)
  const toBytes = (lines: readonly string[]) => Buffer.from(lines.join(''), 'latin1')
  return { base: toBytes(old), content: toBytes(applyHunk(old, changes)) }
}

/** True for a directory that appears or disappears with its entries. */
function followsEntries({ path, before, after }: TreeChange, changes: readonly TreeChange[]): boolean {
  const isKept = before?.type === 'directory' && after?.type === 'directory'
  const isDirectory = (after ?? before)?.type === 'directory'
  return isDirectory && !isKept && changes.some((change) => change.path.startsWith(`${path}/`))
}

function isRemovedDirectory({ before, after }: TreeChange): boolean {
  return before?.type === 'directory' && after === undefined
}
