/** Reports whether a text matches a pattern: `*` is anything, `?` any one character. Linear for each star. */
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
      patternIndex = lastStar + 1
      textIndex = ++resumeIndex
    } else return false
  }
  while (pattern[patternIndex] === '*') patternIndex++
  return patternIndex === pattern.length
}
