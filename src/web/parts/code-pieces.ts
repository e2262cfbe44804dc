import { type CodeToken, highlightLine } from './highlight.ts'
import type { LineSpan } from './intraline.ts'

/** A part of a line with its colour, and whether the other side of a comparison lacks it. */
export interface CodePiece extends CodeToken, LineSpan {}

/** Splits a line where its colour changes, and where marks of changed words begin and end. */
export function splitCode(text: string, path: string, spans: readonly LineSpan[] = []): CodePiece[] {
  const tokens = highlightLine(text, path)
  const cuts = new Set([...listEnds(tokens), ...listEnds(spans)])
  const pieces: CodePiece[] = []
  let start = 0
  for (const end of [...cuts].sort((a, b) => a - b)) {
    if (end === start) continue
    pieces.push({
      text: text.slice(start, end),
      kind: findAt(tokens, start)?.kind ?? '',
      isChanged: findAt(spans, start)?.isChanged ?? false,
    })
    start = end
  }
  return pieces
}

interface Text {
  readonly text: string
}

function listEnds(parts: readonly Text[]): number[] {
  let end = 0
  return parts.map(({ text }) => {
    end += text.length
    return end
  })
}

/** Returns the part with the character at a position. */
function findAt<Part extends Text>(parts: readonly Part[], position: number): Part | undefined {
  let end = 0
  return parts.find(({ text }) => {
    end += text.length
    return position < end
  })
}
