import { escapeName } from '../../text/index.ts'
import type { WaitingChanges } from '../../workspace/index.ts'

/** Formats what a killed command changed, where it is, and the reason why no fork has it. */
export function formatWaitingChanges({ path, fork, missing }: WaitingChanges): string {
  const at = `left in ${escapeName(path)}`
  if (fork === undefined) return `changes of a killed command, whose record is damaged, ${at}`
  const reason =
    missing === undefined ? 'that cannot be stored' : `whose directory ${escapeName(missing)} is missing`
  return `changes of a killed command in ${fork}, ${reason}, ${at}`
}
