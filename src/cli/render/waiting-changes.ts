import { escapeName } from '../../text/index.ts'
import type { WaitingChanges } from '../../workspace/index.ts'

/** Formats what a killed command changed, where it is, and the reason why no fork has it. */
export function formatWaitingChanges({ path, left }: WaitingChanges): string {
  const at = `left in ${escapeName(path)}`
  return left === undefined
    ? `changes of a killed command, whose record is damaged, ${at}`
    : `changes of a killed command in ${left.fork}, whose directory ${escapeName(left.directory)} is missing, ${at}`
}
