import type { ChangeWindow, TimelineCall, ToolReach } from './events/index.ts'

/** The author of a change. `unclear`: an agent's call that did not finish, or a person after it. */
export type ChangeAuthor =
  | { readonly by: 'person' }
  | { readonly by: 'agent' | 'unclear'; readonly call: TimelineCall }

const PERSON: ChangeAuthor = { by: 'person' }

/**
 * Decides who changed a path between two events: the first of these that can change it. A call that runs or has just
 * ended; a call that ended without a report, which makes the author unclear; a person.
 * @param path absolute.
 */
export function attributeChange(path: string, { ended, running, lost }: ChangeWindow): ChangeAuthor {
  const calls = ended === undefined ? running : [ended, ...running]
  // A call that names the path is a better guess than a command that can change anything.
  const naming = calls.find(({ reach }) => Array.isArray(reach) && reach.includes(path))
  const call = naming ?? calls.find(({ reach }) => canChange(reach, path))
  if (call !== undefined) return { by: 'agent', call: toTimelineCall(call) }
  const lostCall = lost.find(({ reach }) => canChange(reach, path))
  return lostCall === undefined ? PERSON : { by: 'unclear', call: toTimelineCall(lostCall) }
}

function canChange(reach: ToolReach, path: string): boolean {
  if (reach === 'nothing') return false
  // An edit may create the directories above its file.
  return reach === 'anything' || reach.some((named) => named === path || named.startsWith(`${path}/`))
}

function toTimelineCall({ agent, session, prompt, number, tool, summary }: TimelineCall): TimelineCall {
  return { agent, session, prompt, number, tool, summary }
}
