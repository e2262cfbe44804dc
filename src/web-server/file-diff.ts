import { createHash } from 'node:crypto'
import { type Hunk, readChangedText, splitLines, type TreePair } from '../diff/index.ts'
import type { Redactor } from '../secrets/index.ts'
import { type CallContext, type PathChange, VfsError } from '../vfs/index.ts'
import type { DiffLine, WebFileDiff, WebHunk } from '../web-api/index.ts'
import { listHunksInThread } from './list-hunks-in-thread.ts'
import { redactLines } from './shorten-text.ts'
import { toWebChange } from './web-change.ts'

const CONTEXT_LINES = 3
/** Lines of one response. */
const MAX_LINES = 2000
const MAX_LINE_LENGTH = 4000
/** Larger files have no diff. */
const MAX_DIFF_BYTES = 16 * 1024 * 1024

/** Diffs in the cache, so that the next hunks of a long one are found at once. */
const MAX_CACHED = 2

interface ShownDiff {
  readonly digest: string
  readonly hunks: readonly Hunk[]
  readonly lines: ShownLines
}

/** Shows the hunks of changed files. They are found in the files themselves, and shown without secrets. */
export class FileDiffs {
  readonly #redactor: Redactor
  #cached: readonly { readonly digest: string; readonly diff: Promise<ShownDiff> }[] = []

  constructor(redactor: Redactor) {
    this.#redactor = redactor
  }

  /**
   * Returns some hunks of a changed file, and the cursor of the next ones.
   *
   * @param cursor number of the first hunk.
   */
  async show(
    change: PathChange,
    trees: TreePair,
    cursor: string | undefined,
    ctx: CallContext,
  ): Promise<WebFileDiff> {
    const shown = toWebChange(change)
    const isTooLarge = Math.max(shown.oldSize, shown.newSize) > MAX_DIFF_BYTES
    const { isBinary, old, current } = isTooLarge
      ? { isBinary: true, old: '', current: '' }
      : await readChangedText(change, trees, ctx)
    const { digest, hunks, lines } = await this.#compare(isBinary ? '' : old, isBinary ? '' : current)
    const page = listPage(hunks, parseCursor(cursor), lines)
    return { change: { ...shown, isBinary }, isBinary, isTooLarge, digest, total: hunks.length, ...page }
  }

  #compare(old: string, current: string): Promise<ShownDiff> {
    const digest = digestTexts(old, current)
    const cached = this.#cached.find((entry) => entry.digest === digest)
    if (cached !== undefined) return cached.diff
    const diff = this.#createDiff(digest, old, current)
    const entry = { digest, diff }
    this.#cached = [entry, ...this.#cached].slice(0, MAX_CACHED)
    // The next request tries again.
    diff.catch(() => {
      this.#cached = this.#cached.filter((each) => each !== entry)
    })
    return diff
  }

  async #createDiff(digest: string, old: string, current: string): Promise<ShownDiff> {
    const hunks = await listHunksInThread({ old, current })
    const lines = {
      old: redactLines(splitLines(old), this.#redactor),
      current: redactLines(splitLines(current), this.#redactor),
    }
    return { digest, hunks, lines }
  }
}

/** Identifies two versions of a file. */
export function digestTexts(old: string | Uint8Array, current: string | Uint8Array): string {
  const hash = (content: string | Uint8Array) => createHash('sha256').update(content).digest()
  return createHash('sha256').update(hash(old)).update(hash(current)).digest('hex')
}

interface ShownLines {
  readonly old: readonly string[]
  readonly current: readonly string[]
}

function listPage(
  hunks: readonly Hunk[],
  from: number,
  lines: ShownLines,
): Pick<WebFileDiff, 'hunks' | 'next'> {
  const page: WebHunk[] = []
  let room = MAX_LINES
  for (let index = from; index < hunks.length && room > 0; index++) {
    const hunk = toWebHunk(hunks[index] ?? [], index, lines, page.length === 0 ? MAX_LINES : room)
    if (hunk === undefined) break
    page.push(hunk)
    room -= hunk.lines.length
  }
  const end = from + page.length
  return { hunks: page, next: end < hunks.length ? String(end) : null }
}

/** Returns a hunk; undefined if it does not fit in this response. One that fits in no response is cut. */
function toWebHunk(hunk: Hunk, index: number, lines: ShownLines, room: number): WebHunk | undefined {
  const [first, last] = [hunk[0], hunk.at(-1)]
  if (first === undefined || last === undefined) return undefined
  const lead = Math.min(CONTEXT_LINES, first.oldStart)
  const oldEnd = last.oldStart + last.oldLines.length
  const trail = Math.min(CONTEXT_LINES, lines.old.length - oldEnd)
  const [oldStart, newStart] = [first.oldStart - lead, first.newStart - lead]
  const newEnd = last.newStart + last.newLines.length
  const oldCount = oldEnd + trail - oldStart
  const newCount = newEnd + trail - newStart
  const shown = listHunkLines(hunk, lines, { oldStart, newStart, oldEnd: oldEnd + trail })
  const isCut = shown.length > room
  if (isCut && room < MAX_LINES) return undefined
  return {
    index,
    oldStart: oldStart + 1,
    oldCount,
    newStart: newStart + 1,
    newCount,
    lines: isCut ? cutLines(shown, room) : shown,
    isCut,
  }
}

/** Cuts a hunk so that both sides are in it: all of the shorter one, if that leaves half of the room. */
function cutLines(lines: readonly DiffLine[], room: number): DiffLine[] {
  const added = lines.filter(({ kind }) => kind === 'added').length
  const half = room / 2
  let [newRoom, oldRoom] = [Math.max(half, room - lines.length + added), Math.max(half, room - added)]
  return lines.filter(({ kind }) => (kind === 'added' ? newRoom-- : oldRoom--) > 0)
}

function listHunkLines(
  hunk: Hunk,
  { old, current }: ShownLines,
  range: { readonly oldStart: number; readonly newStart: number; readonly oldEnd: number },
): DiffLine[] {
  const lines: DiffLine[] = []
  let [oldLine, newLine] = [range.oldStart, range.newStart]
  const addContext = (end: number) => {
    for (; oldLine < end; oldLine++, newLine++) lines.push(toLine('context', old[oldLine], oldLine, newLine))
  }
  for (const change of hunk) {
    addContext(change.oldStart)
    for (const end = oldLine + change.oldLines.length; oldLine < end; oldLine++)
      lines.push(toLine('removed', old[oldLine], oldLine, null))
    for (const end = newLine + change.newLines.length; newLine < end; newLine++)
      lines.push(toLine('added', current[newLine], null, newLine))
  }
  addContext(range.oldEnd)
  return lines
}

function toLine(kind: DiffLine['kind'], line = '', old: number | null, current: number | null): DiffLine {
  const isOpen = !line.endsWith('\n')
  const text = isOpen ? line : line.slice(0, -1)
  const isCut = text.length > MAX_LINE_LENGTH
  return {
    kind,
    text: isCut ? text.slice(0, MAX_LINE_LENGTH).toWellFormed() : text,
    old: old === null ? null : old + 1,
    new: current === null ? null : current + 1,
    ...(isOpen && { isOpen }),
    ...(isCut && { isCut }),
  }
}

function parseCursor(cursor: string | undefined): number {
  if (cursor === undefined) return 0
  if (/^\d{1,9}$/.test(cursor)) return Number(cursor)
  throw new VfsError('EINVAL', '/', { op: 'request', detail: `'${cursor}' is not a cursor of this diff` })
}
