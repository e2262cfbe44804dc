const FIRST_HIGH_SURROGATE = 0xd800
const FIRST_LOW_SURROGATE = 0xdc00
const LAST_LOW_SURROGATE = 0xdfff

/** Returns the nearest position at or before another at which a cut splits no character. */
export function getCutPosition(text: string, position: number): number {
  const unit = text.charCodeAt(position)
  return unit >= FIRST_LOW_SURROGATE && unit <= LAST_LOW_SURROGATE && isHighSurrogate(text, position - 1)
    ? position - 1
    : position
}

/** Returns the first characters of a text that fit into a length. */
export function sliceStart(text: string, length: number): string {
  return text.length <= length ? text : text.slice(0, getCutPosition(text, length))
}

/** Cuts a text for use in a message, and marks the cut. */
export function truncateText(text: string, length: number): string {
  return text.length <= length ? text : `${sliceStart(text, length)}…`
}

function isHighSurrogate(text: string, position: number): boolean {
  const unit = text.charCodeAt(position)
  return unit >= FIRST_HIGH_SURROGATE && unit < FIRST_LOW_SURROGATE
}
