import { UsageError } from './usage-error.ts'

const UNIT_MS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 }

/** Parses `30m`, `12h` or `7d` as milliseconds. UsageError. */
export function parseDuration(option: string, text: string): number {
  const { digits, unit = '' } = text.match(/^(?<digits>[1-9]\d{0,4})(?<unit>[mhd])$/)?.groups ?? {}
  const milliseconds = Number(digits) * (UNIT_MS[unit] ?? Number.NaN)
  if (Number.isSafeInteger(milliseconds)) return milliseconds
  throw new UsageError(`--${option} takes a time such as 30m, 12h or 7d; not '${text}'`)
}
