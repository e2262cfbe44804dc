import { toNanoseconds } from '../../../machine/index.ts'
import type { Timestamp } from '../../../store/index.ts'

/** Node sets times of the machine as floating-point seconds: what is exported comes back this much off. */
const TOLERANCE_NANOS = 1000n

/** True if two times are equal, within the precision of the machine. */
export function isSameTime(one: Timestamp, other: Timestamp): boolean {
  const apart = toNanoseconds(one) - toNanoseconds(other)
  return apart > -TOLERANCE_NANOS && apart < TOLERANCE_NANOS
}
