import { UsageError } from './usage-error.ts'

const unitFactors: Readonly<Record<string, number>> = {
  '': 1,
  K: 2 ** 10,
  M: 2 ** 20,
  G: 2 ** 30,
  T: 2 ** 40,
}

/** Parses `500`, `500K`, `10M` or `2G` as a number of bytes. UsageError. */
export function parseByteCount(option: string, text: string): number {
  const { digits, unit = '' } = text.match(/^(?<digits>\d{1,12})(?<unit>[KMGT]?)(?:i?B)?$/i)?.groups ?? {}
  const count = Number(digits) * (unitFactors[unit.toUpperCase()] ?? Number.NaN)
  if (Number.isSafeInteger(count)) return count
  throw new UsageError(`--${option} takes a size such as 500K, 10M or 2G, or none; not '${text}'`)
}
