/** The middle of some numbers; of an even count, the mean of the two in the middle. */
export function median(numbers: readonly number[]): number {
  const sorted = [...numbers].sort((a, b) => a - b)
  const upper = sorted[sorted.length >> 1]
  const lower = sorted[(sorted.length - 1) >> 1]
  if (upper === undefined || lower === undefined) throw new RangeError('no numbers to take the median of')
  return (lower + upper) / 2
}
