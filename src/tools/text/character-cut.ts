const FIRST_LOW_SURROGATE = 0xdc00
const LAST_LOW_SURROGATE = 0xdfff

/** Returns the nearest cut position at or before `at` that splits no character. */
export function getCutPosition(text: string, at: number): number {
  const unit = text.charCodeAt(at)
  return unit >= FIRST_LOW_SURROGATE && unit <= LAST_LOW_SURROGATE && isHighSurrogate(text, at - 1)
    ? at - 1
    : at
}

/** Returns the first characters of a text that fit into a length. */
export function sliceStart(text: string, length: number): string {
  return text.length <= length ? text : text.slice(0, getCutPosition(text, length))
}

/** Cuts a text for use in a message, and marks the cut. */
export function truncateText(text: string, length: number): string {
  return text.length <= length ? text : `${sliceStart(text, length)}…`
}

function isHighSurrogate(text: string, at: number): boolean {
  const unit = text.charCodeAt(at)
  return unit >= 0xd800 && unit < FIRST_LOW_SURROGATE
}
