const FIRST_LOW_SURROGATE = 0xdc00
const LAST_LOW_SURROGATE = 0xdfff

/** Where to cut a text at this position or just before, so that no character is cut in two. */
export function getCutPosition(text: string, at: number): number {
  const unit = text.charCodeAt(at)
  return unit >= FIRST_LOW_SURROGATE && unit <= LAST_LOW_SURROGATE && isHighSurrogate(text, at - 1)
    ? at - 1
    : at
}

/** The first characters of a text, as many as fit into this length. */
export function sliceStart(text: string, length: number): string {
  return text.length <= length ? text : text.slice(0, getCutPosition(text, length))
}

/** A text for the middle of a message: cut where it is longer than this, with a sign of it. */
export function truncateText(text: string, length: number): string {
  return text.length <= length ? text : `${sliceStart(text, length)}…`
}

function isHighSurrogate(text: string, at: number): boolean {
  const unit = text.charCodeAt(at)
  return unit >= 0xd800 && unit < FIRST_LOW_SURROGATE
}
