const NANOS_PER_SECOND = 1_000_000_000n

/** A time of a file: seconds since the epoch, which may be negative, and nanoseconds, which may not. */
export interface FileTime {
  readonly seconds: number
  readonly nanos: number
}

/** Converts nanoseconds since the epoch to a time. */
export function toFileTime(nanoseconds: bigint): FileTime {
  const nanos = ((nanoseconds % NANOS_PER_SECOND) + NANOS_PER_SECOND) % NANOS_PER_SECOND
  return { seconds: Number((nanoseconds - nanos) / NANOS_PER_SECOND), nanos: Number(nanos) }
}

/** Converts a time to nanoseconds since the epoch. */
export function toNanoseconds({ seconds, nanos }: FileTime): bigint {
  return BigInt(seconds) * NANOS_PER_SECOND + BigInt(nanos)
}

/**
 * Converts a time to an argument of Node's `utimes`, less than two microseconds off. A string, since Node takes a
 * negative number for the current time.
 */
export function toUtimesArgument({ seconds, nanos }: FileTime): string {
  return String(seconds + nanos / Number(NANOS_PER_SECOND))
}
