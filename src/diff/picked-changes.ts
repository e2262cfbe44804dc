import { isText } from '../backends/vault/index.ts'
import { escapeName } from '../text/index.ts'
import type { FileType } from '../vfs/index.ts'
import { applyHunk, formatHunk, type Hunk, listHunks, splitLines } from './hunks.ts'
import { formatModes } from './patch-header.ts'

/** The state of a path. */
interface PickedEntry {
  readonly type: FileType
  readonly size: number
  readonly mode: number
  content(): Iterable<Uint8Array>
}

/** A change of a path, with its states. */
export interface PickedChange {
  readonly path: string
  readonly before: PickedEntry | undefined
  readonly after: PickedEntry | undefined
}

/** The picked part of some changes: whole paths, and files with some of their lines. */
export interface PickedSelection {
  readonly paths: readonly string[]
  readonly picks: readonly {
    readonly path: string
    /** Content before the change. */
    readonly base: Uint8Array
    /** The same content with the picked lines. */
    readonly content: Uint8Array
  }[]
}

/** Larger files are picked as a whole. */
const MAX_TEXT_BYTES = 16 * 2 ** 20

/** A question of `apply -p`: hunks of a file, or a change that has none. */
export interface PickedQuestion {
  readonly change: PickedChange
  /** The file and how it changes, in one line. */
  readonly header: readonly string[]
  /** The lines before the change. They have a character for each byte. */
  readonly old: readonly string[]
  /** Empty for a change that is picked as a whole. */
  readonly hunks: readonly Hunk[]
}

/**
 * Lists what a person is asked about. A new or removed directory follows its changed entries, if it has any. The
 * entries of a directory that became a file or link follow it.
 */
export function listQuestions(changes: readonly PickedChange[]): PickedQuestion[] {
  const replaced = changes.filter(
    ({ before, after }) => before?.type === 'directory' && after !== undefined && after.type !== 'directory',
  )
  const isBelowReplaced = ({ path }: PickedChange) =>
    replaced.some((directory) => path.startsWith(`${directory.path}/`))
  return changes
    .filter((change) => !followsEntries(change, changes) && !isBelowReplaced(change))
    .map(createQuestion)
}

/** Returns the lines of a hunk as they are shown. */
export function formatPickedHunk({ old }: PickedQuestion, hunk: Hunk): string[] {
  return formatHunk(hunk, old).map((line) => Buffer.from(line, 'latin1').toString())
}

/**
 * Returns the selection for an apply: whole changes, and files with some of their hunks. A removed directory is
 * selected with everything in it.
 */
export function toSelection(
  changes: readonly PickedChange[],
  answers: ReadonlyMap<PickedQuestion, readonly Hunk[] | 'all'>,
): PickedSelection {
  const paths: string[] = []
  const picks: PickedSelection['picks'][number][] = []
  for (const [question, answer] of answers) {
    const { path } = question.change
    const count = question.hunks.flat().length
    if (answer === 'all' || (count > 0 && answer.flat().length === count)) paths.push(path)
    else if (answer.length > 0) picks.push({ path, ...pickLines(question, answer) })
  }
  const whole = new Set(paths)
  // In reverse: a directory comes after those in it.
  for (const { path } of changes.toReversed().filter(isRemovedDirectory)) {
    const below = changes.filter((change) => change.path.startsWith(`${path}/`))
    if (below.length > 0 && below.every((change) => whole.has(change.path))) whole.add(path)
  }
  return { paths: [...whole], picks }
}

/** Returns the question about one change. */
export function createQuestion(change: PickedChange): PickedQuestion {
  const { path, before, after } = change
  const [name, kind] = [escapeName(path), formatKind(before, after)]
  const [old, current] = [readLines(before), readLines(after)]
  const hasLines =
    before?.type === 'file' && after?.type === 'file' && old !== undefined && current !== undefined
  const hunks = hasLines ? listHunks(old, current) : []
  return { change, header: [`${kind} ${name}`], old: old ?? [], hunks }
}

function formatKind(before: PickedEntry | undefined, after: PickedEntry | undefined): string {
  const type = (after ?? before)?.type === 'symlink' ? 'link' : ((after ?? before)?.type ?? 'file')
  if (before === undefined) return `new ${type}`
  if (after === undefined) return `removed ${type}`
  const modes =
    before.mode === after.mode || after.type === 'symlink'
      ? ''
      : ` (mode ${formatModes({ kind: 'modified', path: '/', before: toStat(before), after: toStat(after) })})`
  return `changed ${type}${modes}`
}

function toStat({ type, size, mode }: PickedEntry): {
  type: PickedEntry['type']
  size: number
  mode: number
  mtime: Date
} {
  return { type, size, mode, mtime: new Date(0) }
}

/** Reads the lines of a text, with a character for each byte; undefined for anything else. */
function readLines(entry: PickedEntry | undefined): string[] | undefined {
  if (entry?.type !== 'file' || entry.size > MAX_TEXT_BYTES) return undefined
  const bytes = Buffer.concat([...entry.content()])
  return isText(bytes) ? splitLines(bytes.toString('latin1')) : undefined
}

function pickLines(
  { old }: PickedQuestion,
  hunks: readonly Hunk[],
): Omit<PickedSelection['picks'][number], 'path'> {
  const changes = hunks.flat().toSorted((one, other) => one.oldStart - other.oldStart)
  const toBytes = (lines: readonly string[]) => Buffer.from(lines.join(''), 'latin1')
  return { base: toBytes(old), content: toBytes(applyHunk(old, changes)) }
}

/** True for a directory that is new or removed, if it has changed entries: it appears or disappears with them. */
function followsEntries({ path, before, after }: PickedChange, changes: readonly PickedChange[]): boolean {
  const isKept = before?.type === 'directory' && after?.type === 'directory'
  const isDirectory = (after ?? before)?.type === 'directory'
  return isDirectory && !isKept && changes.some((change) => change.path.startsWith(`${path}/`))
}

function isRemovedDirectory({ before, after }: PickedChange): boolean {
  return before?.type === 'directory' && after === undefined
}
