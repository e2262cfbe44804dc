import { nanosOf } from '../../../machine/index.ts'
import type { Time } from '../../../store/index.ts'

/** Node sets times of the machine as floating-point seconds: what is exported comes back this much off. */
const TOLERANCE_NANOS = 1000n

/** Whether two moments are the same, as far as a time that went through the machine can tell. */
export function isSameTime(one: Time, other: Time): boolean {
  const apart = nanosOf(one) - nanosOf(other)
  return apart > -TOLERANCE_NANOS && apart < TOLERANCE_NANOS
}
