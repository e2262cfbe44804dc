/** Reports whether a text matches a pattern: `*` is anything, `?` any one character. Linear for each star. */
export function matchesWildcard(pattern: string, text: string): boolean {
  let [at, from, star, resume] = [0, 0, -1, 0]
  while (at < text.length) {
    if (pattern[from] === '*') {
      star = from++
      resume = at
    } else if (from < pattern.length && (pattern[from] === '?' || pattern[from] === text[at])) {
      from++
      at++
    } else if (star !== -1) {
      from = star + 1
      at = ++resume
    } else return false
  }
  while (pattern[from] === '*') from++
  return from === pattern.length
}
