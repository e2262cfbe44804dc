/** Control characters, what ends a line for some, what turns the direction of text around, and what nobody sees. */
const UNPRINTABLE =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: it is they that are looked for
  /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u115f\u1160\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu

/**
 * A name or a message on one line: what is not to be printed is written as URIs write it, `%0A` for a newline, so that
 * a name cannot pass for a line of output.
 */
export function escapeUnprintable(text: string): string {
  return text.replace(UNPRINTABLE, encodeURIComponent)
}
