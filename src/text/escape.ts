/** Control characters, and those that change the text direction: no output may control a terminal. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: it is they that are looked for
const CONTROL_CHARACTERS = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu
/** Those of names: also soft hyphens, zero-width and tag characters. */
const INVISIBLE_CHARACTERS =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: it is they that are looked for
  /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u115f\u1160\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu
const ESCAPES: Readonly<Record<string, string>> = { '\n': '\\n', '\t': '\\t', '\r': '\\r' }

/** Layout characters, which content may have. */
const LAYOUT_CHARACTERS: ReadonlyMap<string, string> = new Map(
  [...'\n\t\r'].map((character) => [character, character]),
)

/**
 * Formats a name or path for one line of output: unchanged, or quoted with escapes as in C, git and `$'…'`. Quoted if
 * it has invisible characters or starts with a quote. `--json` has the exact name.
 */
export function escapeName(name: string): string {
  if (name.search(INVISIBLE_CHARACTERS) === -1 && !name.startsWith('"')) return name
  const escaped = name.replaceAll(/[\\"]/g, '\\$&').replaceAll(INVISIBLE_CHARACTERS, escapeCharacter)
  return `"${escaped}"`
}

/** Escapes the characters that would control a terminal. Newlines, tabs and carriage returns stay. */
export function escapeText(text: string): string {
  return text.replaceAll(
    CONTROL_CHARACTERS,
    (character) => LAYOUT_CHARACTERS.get(character) ?? escapeCharacter(character),
  )
}

function escapeCharacter(character: string): string {
  const octal = (byte: number) => `\\${byte.toString(8).padStart(3, '0')}`
  return ESCAPES[character] ?? [...Buffer.from(character)].map(octal).join('')
}
