/** Control characters, line separators, direction overrides and invisible characters. */
const UNPRINTABLE =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these characters are the target
  /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u115f\u1160\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu

/**
 * Formats a name or a message on one line: unprintable characters are percent-encoded, `%0A` for a newline, so that
 * a name cannot pass for a line of output.
 */
export function escapeUnprintable(text: string): string {
  return text.replace(UNPRINTABLE, encodeURIComponent)
}
