/** `npm run torture` sets it; without it the same tests run in a short form. */
const isLong: boolean = process.env['COPPICE_TORTURE'] === 'long'

/** A count as it is in the short form and in the long one. */
export function scaled(short: number, long: number): number {
  return isLong ? long : short
}

/** The time a test may take before it counts as hanging. */
export const PATIENCE_MS: number = scaled(1_800_000, 7_200_000)
