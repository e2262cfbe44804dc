import { diffIndices } from 'node-diff3'

/** Lines of an older text that others of a newer one took the place of; either side may be empty. */
export interface LineChange {
  readonly before: readonly [start: number, count: number]
  readonly after: readonly [start: number, count: number]
}

/** What changed from one list of lines to another, in order. */
export function lineChanges(before: readonly string[], after: readonly string[]): LineChange[] {
  // As numbers: the library keeps what it compares as keys of a plain object, where some texts mean something.
  const numbers = new Map<string, number>()
  const numberOf = (text: string) => {
    const number = numbers.get(text) ?? numbers.size
    numbers.set(text, number)
    return number
  }
  const changes = diffIndices(before.map(numberOf), after.map(numberOf))
  return changes.map(({ buffer1, buffer2 }) => ({ before: buffer1, after: buffer2 }))
}
