/** Edit distance above which a word is not a typing error of another. */
const MAX_EDITS = 2

/** Returns the candidate with the fewest edits to a word, or undefined if none is near. */
export function findNearest(word: string, candidates: Iterable<string>): string | undefined {
  return findAllNearest(word, candidates)[0]
}

/** Returns every candidate that shares the fewest edits to a word; empty if none is near. */
export function findAllNearest(word: string, candidates: Iterable<string>): string[] {
  const near = [...candidates]
    .map((candidate) => ({ candidate, edits: getEditDistance(word, candidate) }))
    .filter(({ candidate, edits }) => edits <= MAX_EDITS && edits < candidate.length)
  const fewest = Math.min(...near.map(({ edits }) => edits))
  return near.filter(({ edits }) => edits === fewest).map(({ candidate }) => candidate)
}

/** Counts the letters to add, drop, replace or swap with their neighbour. */
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
