/** A character outside of ASCII. */
const OTHER = /[^\0-\x7f]/g

/**
 * A plugin of the bundler. Characters outside of ASCII are written as escapes: with one of them, V8 keeps the whole file
 * in two bytes a character, which takes milliseconds at every start.
 */
export const plainText = {
  name: 'plain-text',
  generateBundle(_, bundle) {
    for (const chunk of Object.values(bundle)) {
      if (chunk.type !== 'chunk') continue
      chunk.code = chunk.code.replaceAll(OTHER, toEscape)
    }
  },
}

/** Without the flag u, the pattern finds each half of a pair by itself. */
function toEscape(character) {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}
