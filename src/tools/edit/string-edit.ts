import { Pace } from '../../vfs/index.ts'
import { MAX_EDITABLE_BYTES } from '../place.ts'
import { TextSearch } from '../text/text-search.ts'
import type { EditRefusal } from './edit-refusal.ts'
import type { Edited } from './line-edit.ts'
import { endNear, lineAt } from './text-lines.ts'

/** Replaces a text by another, as plain text on both sides. */
export interface StringEdit {
  readonly operation: 'replace_string'
  readonly find: string
  readonly replace: string
  readonly all: boolean
}

/** Of a text that occurs often, so many places are told. */
const MAX_TOLD_PLACES = 10
/** What replacing at one place costs, and looking for a while without finding one, in characters looked at. */
const STEPS_PER_PLACE = 64
const STEPS_PER_PAUSE = 64 * 1024
/** So many parts of the new text are held before they are joined. */
const PARTS_APART = 4096

/**
 * Replaces the one place where a text occurs, or all with `all`. A newline in `find` stands for whichever line end
 * the file has there, and one in `replace` becomes the end of the lines around it; unless one of the two has a `\r`,
 * for then its author means line ends exactly. Others have their turn meanwhile; rejects if the signal is aborted.
 */
export async function editString(
  text: string,
  { find, replace, all }: StringEdit,
  signal?: AbortSignal,
): Promise<Edited | EditRefusal> {
  const isExact = find.includes('\r') || replace.includes('\r')
  const searched = !isExact && find.includes('\n') ? text.replaceAll('\r\n', '\n') : text
  // Overlapping ones count: each is one the author may have meant. A few are enough to say so.
  const search = { text, searched, find: new TextSearch(find), length: find.length, signal }
  const places = await firstPlaces(search, MAX_TOLD_PLACES + 1)
  const [first] = places
  if (first === undefined) {
    return { refusal: "the text of 'find' does not occur in the file; read it again and copy it exactly" }
  }
  if (!all && places.length > 1) return { refusal: ambiguous(searched, places) }
  const put = isExact || !replace.includes('\n') ? () => replace : endingAsAround(text, replace)
  const edited = await replaced(search, put)
  if (edited === undefined) {
    const refusal = `it would have more than ${MAX_EDITABLE_BYTES} bytes, and could not be edited again`
    return { refusal, code: 'EFBIG' }
  }
  return { text: edited, first: lineAt(searched, first), count: replace.split('\n').length }
}

interface Search {
  readonly text: string
  /** The text itself, or the same with plain line ends. */
  readonly searched: string
  readonly find: TextSearch
  /** Of what is looked for. */
  readonly length: number
  readonly signal: AbortSignal | undefined
}

async function firstPlaces({ searched, find, signal }: Search, count: number): Promise<number[]> {
  const places: number[] = []
  const pace = new Pace()
  for (const place of find.places(searched, true)) {
    if (place !== null) places.push(place)
    else if (pace.isOver(STEPS_PER_PAUSE)) await pace.turn(signal)
    if (places.length === count) break
  }
  return places
}

/** The text with every place replaced, where they do not overlap; undefined if that is too much. */
async function replaced(
  { text, searched, find, length, signal }: Search,
  put: (position: number) => string,
): Promise<string | undefined> {
  const original = searched === text ? (position: number) => position : withReturns(text, searched)
  const joined: string[] = []
  let parts: string[] = []
  let done = 0
  let characters = text.length
  const pace = new Pace()
  for (const position of find.places(searched, false)) {
    if (pace.isOver(position === null ? STEPS_PER_PAUSE : STEPS_PER_PLACE)) await pace.turn(signal)
    if (position === null) continue
    const from = original(position)
    const replacement = put(from)
    parts.push(text.slice(done, from), replacement)
    done = original(position + length)
    characters += replacement.length - (done - from)
    // No character takes less than a byte.
    if (characters > MAX_EDITABLE_BYTES) return undefined
    if (parts.length < PARTS_APART) continue
    joined.push(parts.join(''))
    parts = []
  }
  return [...joined, ...parts, text.slice(done)].join('')
}

/** Finds positions of a text without returns in the one that has them. Asked for ever greater ones, it never goes back. */
function withReturns(text: string, plain: string): (position: number) => number {
  let returns = 0
  let next = plain.indexOf('\n')
  return (position) => {
    for (; next !== -1 && next < position; next = plain.indexOf('\n', next + 1)) {
      if (text[next + returns] === '\r') returns++
    }
    return position + returns
  }
}

/** The replacement with the line ends of the place it comes to. Asked for ever greater places, it looks at each line once. */
function endingAsAround(text: string, replace: string): (position: number) => string {
  const withReturn = replace.replaceAll('\n', '\r\n')
  let known = -1
  let end = '\n'
  return (position) => {
    if (position > known) {
      end = endNear(text, position)
      const newline = text.indexOf('\n', position)
      known = newline === -1 ? text.length : newline
    }
    return end === '\n' ? replace : withReturn
  }
}

function ambiguous(text: string, places: readonly number[]): string {
  const isMore = places.length > MAX_TOLD_PLACES
  const told = places.slice(0, MAX_TOLD_PLACES)
  const lines = told.map((place) => lineAt(text, place)).join(', ')
  const times = `${isMore ? 'more than ' : ''}${told.length} times, at lines ${lines}${isMore ? ', …' : ''}`
  return `the text of 'find' occurs ${times}; give more of what is around it, or all: true`
}
