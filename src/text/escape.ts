/** Control characters, and those that turn the direction of text around: a name must not steer a terminal. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: it is they that are looked for
const CONTROL_CHARACTERS = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu
/** Also escaped in names: soft hyphens, zero-width and tag characters. */
const INVISIBLE_CHARACTERS =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: it is they that are looked for
  /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u115f\u1160\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu
const ESCAPES: Readonly<Record<string, string>> = { '\n': '\\n', '\t': '\\t', '\r': '\\r' }

/** Layout characters, which content may have. */
const LAYOUT_CHARACTERS: ReadonlyMap<string, string> = new Map(
  [...'\n\t\r'].map((character) => [character, character]),
)

/**
 * A name or path as one line shows it: as it is, or in quotes with escapes as C, git and `$'…'` of a shell write them
 * if it holds what cannot be shown. `--json` always has it exactly.
 */
export function escapeName(name: string): string {
  if (name.search(INVISIBLE_CHARACTERS) === -1 && !name.startsWith('"')) return name
  const escaped = name.replaceAll(/[\\"]/g, '\\$&').replaceAll(INVISIBLE_CHARACTERS, escapeCharacter)
  return `"${escaped}"`
}

/** Content in which whatever would steer a terminal is escaped; its lines and tabs stay. */
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
