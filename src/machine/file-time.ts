const NANOS_PER_SECOND = 1_000_000_000n

/** A moment as file systems keep it: seconds since the epoch, negative before it, and the rest, which never is. */
export interface FileTime {
  readonly seconds: number
  readonly nanos: number
}

export function toFileTime(nanos: bigint): FileTime {
  const rest = ((nanos % NANOS_PER_SECOND) + NANOS_PER_SECOND) % NANOS_PER_SECOND
  return { seconds: Number((nanos - rest) / NANOS_PER_SECOND), nanos: Number(rest) }
}

/** All of a moment in nanoseconds. */
export function toNanoseconds({ seconds, nanos }: FileTime): bigint {
  return BigInt(seconds) * NANOS_PER_SECOND + BigInt(nanos)
}

/**
 * A moment as `utimes` of Node takes it, which is less than a microsecond off. Text, since a number before the epoch is
 * taken for now.
 */
export function toUtimesArgument({ seconds, nanos }: FileTime): string {
  return String(seconds + nanos / Number(NANOS_PER_SECOND))
}
