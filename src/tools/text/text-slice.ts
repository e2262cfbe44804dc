import { getCutPosition } from './character-cut.ts'

/** A position in a text: a line, and a character of it, both counted from 1. */
export interface TextPosition {
  readonly line: number
  readonly column: number
}

/** A part of a text, as the file has it, line ends included. */
export interface TextSlice {
  readonly text: string
  /** Whether the file ends where the slice ends. */
  readonly isEnd: boolean
}

/** How much of a text a slice holds at least, if the file has as much. */
export interface SliceSize {
  readonly lines: number
  readonly characters: number
}

/** A position that a text does not have, and what it has instead. */
export interface MissingPosition {
  readonly problem: string
}

/**
 * Reads a text from a position on, until there are more lines or more characters than were asked for.
 * Holds no more than the slice and one piece, however long the text and its lines are.
 */
export async function readSlice(
  pieces: AsyncIterable<string>,
  from: TextPosition,
  size: SliceSize,
): Promise<TextSlice | MissingPosition> {
  const start = new SliceStart(from)
  let text = ''
  let lines = 0
  for await (const piece of pieces) {
    const rest = start.isFound ? piece : start.find(piece)
    text += rest
    lines += countNewlines(rest)
    if (text.length > size.characters || lines > size.lines) return { text, isEnd: false }
  }
  const problem = start.problem(text)
  return problem === undefined ? { text, isEnd: true } : { problem }
}

/** Looks for the start of a slice in a text that comes in pieces. */
class SliceStart {
  readonly #from: TextPosition
  /** The position at which the next piece begins. */
  #line = 1
  #column = 1
  #isBeyondLine = false
  isFound: boolean

  constructor(from: TextPosition) {
    this.#from = from
    this.isFound = from.line === 1 && from.column === 1
  }

  /** Returns what a piece has from the start on; nothing, if the start is not in it. */
  find(piece: string): string {
    let at = 0
    for (; this.#line < this.#from.line; this.#line++) {
      const newline = piece.indexOf('\n', at)
      if (newline === -1) {
        this.#column += piece.length - at
        return ''
      }
      at = newline + 1
      this.#column = 1
    }
    return this.#findColumn(piece, at)
  }

  /** What is wrong with the start, once all of the text was seen. */
  problem(found: string): string | undefined {
    const { line, column } = this.#from
    if (this.#isBeyondLine || (this.#line === line && column > 1 && found === '')) {
      return `line ${line} has no character ${column}: it has ${formatCount(this.#column - 1, 'character')}`
    }
    if (line === 1 || found !== '') return undefined
    // A newline at the very end starts no further line.
    const lines = this.#column === 1 ? this.#line - 1 : this.#line
    return `there is no line ${line}: the file has ${formatCount(lines, 'line')}`
  }

  #findColumn(piece: string, at: number): string {
    if (this.#isBeyondLine) return ''
    const end = at + this.#from.column - this.#column
    const newline = piece.indexOf('\n', at)
    if (newline !== -1 && newline <= end && this.#from.column > 1) {
      this.#column += newline - at
      this.#isBeyondLine = true
      return ''
    }
    if (end >= piece.length && this.#from.column > 1) {
      this.#column += piece.length - at
      return ''
    }
    this.isFound = true
    return piece.slice(getCutPosition(piece, end))
  }
}

export function countNewlines(text: string): number {
  let newlines = 0
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) newlines++
  return newlines
}

function formatCount(number: number, thing: string): string {
  return `${number} ${thing}${number === 1 ? '' : 's'}`
}
