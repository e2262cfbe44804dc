import { getCutPosition } from './character-cut.ts'

/** A position in a text: a line, and a character of it, both counted from 1. */
export interface TextPosition {
  readonly line: number
  readonly column: number
}

/** A part of a text as in the file, line ends included. */
export interface TextSlice {
  readonly text: string
  /** True if the file ends with the slice. */
  readonly isEnd: boolean
}

/** Minimum size of a slice, if the file is as long. */
export interface SliceSize {
  readonly lines: number
  readonly characters: number
}

/** A position beyond the text, and the actual extent. */
export interface MissingPosition {
  readonly problem: string
}

/**
 * Reads a text from a position on, until it has more lines or characters than requested.
 * Buffers no more than the slice and one piece.
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
    const rest = start.isFound ? piece : start.skipTo(piece)
    text += rest
    lines += countNewlines(rest)
    if (text.length > size.characters || lines > size.lines) return { text, isEnd: false }
  }
  const problem = start.findProblem(text)
  return problem === undefined ? { text, isEnd: true } : { problem }
}

/** Returns all of a text from a position on. */
export function sliceFrom(whole: string, from: TextPosition): TextSlice | MissingPosition {
  const start = new SliceStart(from)
  const text = start.isFound ? whole : start.skipTo(whole)
  const problem = start.findProblem(text)
  return problem === undefined ? { text, isEnd: true } : { problem }
}

/** Finds the start of a slice in a stream of pieces. */
class SliceStart {
  readonly #from: TextPosition
  /** Position at which the next piece begins. */
  #line = 1
  #column = 1
  #isBeyondLine = false
  isFound: boolean

  constructor(from: TextPosition) {
    this.#from = from
    this.isFound = from.line === 1 && from.column === 1
  }

  /** Returns the part of the next piece after the start; nothing if the start is not reached. */
  skipTo(piece: string): string {
    let lineStart = 0
    for (; this.#line < this.#from.line; this.#line++) {
      const newline = piece.indexOf('\n', lineStart)
      if (newline === -1) {
        this.#column += piece.length - lineStart
        return ''
      }
      lineStart = newline + 1
      this.#column = 1
    }
    return this.#skipToColumn(piece, lineStart)
  }

  /** Returns the problem with the start, after the whole text was read; undefined if it was found. */
  findProblem(found: string): string | undefined {
    const { line, column } = this.#from
    if (this.#isBeyondLine || (this.#line === line && column > 1 && found === '')) {
      return `line ${line} has no character ${column}: it has ${formatCount(this.#column - 1, 'character')}`
    }
    if (line === 1 || found !== '') return undefined
    // A final newline begins no line.
    const lines = this.#column === 1 ? this.#line - 1 : this.#line
    return `there is no line ${line}: the file has ${formatCount(lines, 'line')}`
  }

  #skipToColumn(piece: string, lineStart: number): string {
    if (this.#isBeyondLine) return ''
    const end = lineStart + this.#from.column - this.#column
    const newline = piece.indexOf('\n', lineStart)
    if (newline !== -1 && newline <= end && this.#from.column > 1) {
      this.#column += newline - lineStart
      this.#isBeyondLine = true
      return ''
    }
    if (end >= piece.length && this.#from.column > 1) {
      this.#column += piece.length - lineStart
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
