/** Control characters, and those that turn the direction of text around: a name must not steer a terminal. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: it is they that are looked for
const UNSHOWABLE = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu
/** In a name also what nobody sees: soft hyphens, characters without width, and those of tags. */
const UNSEEN_IN_NAMES =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: it is they that are looked for
  /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u115f\u1160\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu
const ESCAPES: Readonly<Record<string, string>> = { '\n': '\\n', '\t': '\\t', '\r': '\\r' }

/** What lays text out is fine in content. */
const LAYOUT: ReadonlyMap<string, string> = new Map([...'\n\t\r'].map((character) => [character, character]))

/**
 * A name or path as one line shows it: as it is, or in quotes with escapes as C, git and `$'…'` of a shell write them
 * if it holds what cannot be shown. `--json` always has it exactly.
 */
export function shown(name: string): string {
  if (name.search(UNSEEN_IN_NAMES) === -1 && !name.startsWith('"')) return name
  const escaped = name.replaceAll(/[\\"]/g, '\\$&').replaceAll(UNSEEN_IN_NAMES, escapeOf)
  return `"${escaped}"`
}

/** Content in which whatever would steer a terminal is escaped; its lines and tabs stay. */
export function escapedText(text: string): string {
  return text.replaceAll(UNSHOWABLE, (character) => LAYOUT.get(character) ?? escapeOf(character))
}

function escapeOf(character: string): string {
  const octal = (byte: number) => `\\${byte.toString(8).padStart(3, '0')}`
  return ESCAPES[character] ?? [...Buffer.from(character)].map(octal).join('')
}
