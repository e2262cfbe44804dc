/** Further than this, two words are not one word mistyped. */
const MAX_EDITS = 2

/** The candidate a word was probably meant to be, if there is one. */
export function findNearest(word: string, candidates: Iterable<string>): string | undefined {
  const [best] = [...candidates]
    .map((candidate) => ({ candidate, edits: getEditDistance(word, candidate) }))
    .filter(({ candidate, edits }) => edits <= MAX_EDITS && edits < candidate.length)
    .sort((a, b) => a.edits - b.edits)
  return best?.candidate
}

/** How many letters must be added, dropped, replaced or swapped with their neighbour. */
function getEditDistance(one: string, other: string): number {
  let older: number[] = []
  let previous = Array.from({ length: other.length + 1 }, (_, index) => index)
  for (let row = 1; row <= one.length; row++) {
    const current = [row]
    for (let column = 1; column <= other.length; column++) {
      const isSame = one[row - 1] === other[column - 1]
      const isSwap = one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1]
      const edits = [
        getCell(previous, column) + 1,
        getCell(current, column - 1) + 1,
        getCell(previous, column - 1) + (isSame ? 0 : 1),
        ...(isSwap ? [getCell(older, column - 2) + 1] : []),
      ]
      current.push(Math.min(...edits))
    }
    older = previous
    previous = current
  }
  return getCell(previous, other.length)
}

function getCell(row: readonly number[], column: number): number {
  return row[column] ?? Number.POSITIVE_INFINITY
}
