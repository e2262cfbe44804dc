/**
 * Reports whether a text matches a pattern: `*` is any text, also none and also with `/`; `?` is any one character.
 * Takes at most about pattern × text steps, however many stars there are.
 */
export function matchesWildcard(pattern: string, text: string): boolean {
  let [textIndex, patternIndex, lastStar, resumeIndex] = [0, 0, -1, 0]
  while (textIndex < text.length) {
    const symbol = pattern[patternIndex]
    if (symbol === '*') {
      lastStar = patternIndex++
      resumeIndex = textIndex
    } else if (symbol !== undefined && (symbol === '?' || symbol === text[textIndex])) {
      patternIndex++
      textIndex++
    } else if (lastStar !== -1) {
      // Only the last star has to match more: what stands before it matched as little text as possible.
      patternIndex = lastStar + 1
      textIndex = ++resumeIndex
    } else return false
  }
  while (pattern[patternIndex] === '*') patternIndex++
  return patternIndex === pattern.length
}
