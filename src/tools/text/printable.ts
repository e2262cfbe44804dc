/** Control characters, what ends a line for some, and what turns the direction of text around. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: it is they that are looked for
const UNPRINTABLE = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g

/**
 * A name or a message on one line: what is not to be printed is written as URIs write it, `%0A` for a newline, so that
 * a name cannot pass for a line of output.
 */
export function printable(text: string): string {
  return text.replace(UNPRINTABLE, encodeURIComponent)
}
