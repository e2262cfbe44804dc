import type { Time } from '../../../store/index.ts'

const NANOS = 1_000_000_000n
/** Node sets times of the machine as floating-point seconds: what is exported comes back this much off. */
const TOLERANCE_NANOS = 1000n

export function timeOf(nanos: bigint): Time {
  const rest = ((nanos % NANOS) + NANOS) % NANOS
  return { seconds: Number((nanos - rest) / NANOS), nanos: Number(rest) }
}

/** Whether two moments are the same, as far as a time that went through the machine can tell. */
export function isSameTime(one: Time, other: Time): boolean {
  const apart = nanosOf(one) - nanosOf(other)
  return apart > -TOLERANCE_NANOS && apart < TOLERANCE_NANOS
}

/** Seconds for a system call. */
export function secondsOf({ seconds, nanos }: Time): number {
  return seconds + nanos / Number(NANOS)
}

function nanosOf({ seconds, nanos }: Time): bigint {
  return BigInt(seconds) * NANOS + BigInt(nanos)
}
