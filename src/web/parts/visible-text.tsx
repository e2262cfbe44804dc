import type { ComponentChildren } from 'preact'

/** Controls, direction marks, zero-width and other characters that a person cannot see. Tabs and line ends stay. */
const INVISIBLE = /[[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]--[\t\n\ufe0f]]/gv

/** The same in a name, which stands in one line. */
const INVISIBLE_IN_NAME = /[[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]--\ufe0f]/gv

const NAMES: Readonly<Record<number, string>> = {
  0: 'null',
  8: 'backspace',
  9: 'tab',
  10: 'line end',
  13: 'carriage return',
  27: 'escape',
  173: 'soft hyphen',
  8203: 'zero-width space',
  8205: 'zero-width joiner',
  8206: 'left-to-right mark',
  8207: 'right-to-left mark',
  8234: 'left-to-right embedding',
  8235: 'right-to-left embedding',
  8236: 'end of direction change',
  8237: 'left-to-right override',
  8238: 'right-to-left override',
  8294: 'left-to-right isolate',
  8295: 'right-to-left isolate',
  8296: 'first strong isolate',
  8297: 'end of isolate',
  65279: 'byte order mark',
}

/** A piece of a text: characters as they are, or one that must be made visible. */
export type TextPiece = string | { readonly code: number; readonly label: string; readonly name: string }

/** Splits a text at characters that a person cannot see. */
export function splitInvisible(text: string, invisible: RegExp = INVISIBLE): TextPiece[] {
  const pieces: TextPiece[] = []
  let end = 0
  for (const found of text.matchAll(invisible)) {
    if (found.index > end) pieces.push(text.slice(end, found.index))
    pieces.push(describeCharacter(found[0].codePointAt(0) ?? 0))
    end = found.index + found[0].length
  }
  if (end < text.length) pieces.push(text.slice(end))
  return pieces
}

/** Formats a text for an attribute or a title, with `<U+202E>` in place of a character that nobody sees. */
export function toVisible(text: string): string {
  return splitInvisible(text)
    .map((piece) => (typeof piece === 'string' ? piece : `<${piece.label}>`))
    .join('')
}

/** Shows a text that others wrote: a name, a line, words of a model. It becomes text nodes and nothing else. */
export function VisibleText({ text }: { readonly text: string }): ComponentChildren {
  return showPieces(text, INVISIBLE)
}

/** Shows the name or path of a file, in which a line end would look like a space. */
export function VisiblePath({ path }: { readonly path: string }): ComponentChildren {
  return showPieces(path, INVISIBLE_IN_NAME)
}

function showPieces(text: string, invisible: RegExp): ComponentChildren {
  if (text.search(invisible) === -1) return text
  return splitInvisible(text, invisible).map((piece) =>
    typeof piece === 'string' ? (
      piece
    ) : (
      <span class="invisible" title={`${piece.label} ${piece.name}`}>
        {piece.label}
      </span>
    ),
  )
}

function describeCharacter(code: number): Exclude<TextPiece, string> {
  return {
    code,
    label: `U+${code.toString(16).toUpperCase().padStart(4, '0')}`,
    name: NAMES[code] ?? 'invisible character',
  }
}
