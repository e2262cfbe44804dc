import type { VNode } from 'preact'
import { splitCode } from './code-pieces.ts'
import type { LineSpan } from './intraline.ts'
import { VisibleText } from './visible-text.tsx'

export interface CodeTextProps {
  readonly text: string
  /** Path of the file, which decides about the colours. */
  readonly path: string
  readonly spans?: readonly LineSpan[] | undefined
}

/** A line of code with colours and marks. */
export function CodeText({ text, path, spans }: CodeTextProps): VNode {
  return (
    <>
      {splitCode(text, path, spans).map((piece, index) => {
        const name = piece.kind === '' ? undefined : `token-${piece.kind}`
        if (piece.isChanged)
          return (
            <mark key={index} class={name}>
              <VisibleText text={piece.text} />
            </mark>
          )
        if (name === undefined) return <VisibleText key={index} text={piece.text} />
        return (
          <span key={index} class={name}>
            <VisibleText text={piece.text} />
          </span>
        )
      })}
    </>
  )
}
