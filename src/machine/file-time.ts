const NANOS = 1_000_000_000n

/** A moment as file systems keep it: seconds since the epoch, negative before it, and the rest, which never is. */
export interface FileTime {
  readonly seconds: number
  readonly nanos: number
}

export function fileTime(nanos: bigint): FileTime {
  const rest = ((nanos % NANOS) + NANOS) % NANOS
  return { seconds: Number((nanos - rest) / NANOS), nanos: Number(rest) }
}

/** All of a moment in nanoseconds. */
export function nanosOf({ seconds, nanos }: FileTime): bigint {
  return BigInt(seconds) * NANOS + BigInt(nanos)
}

/**
 * A moment as `utimes` of Node takes it, which is less than a microsecond off. Text, since a number before the epoch is
 * taken for now.
 */
export function utimesArgument({ seconds, nanos }: FileTime): string {
  return String(seconds + nanos / Number(NANOS))
}
