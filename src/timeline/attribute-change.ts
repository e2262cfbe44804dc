import type { ChangeWindow, TimelineCall, ToolReach } from './events/index.ts'

/** The author of a change. `unclear`: an agent's call that did not finish, or a person after it. */
export type ChangeAuthor =
  | { readonly by: 'person' }
  | { readonly by: 'agent' | 'unclear'; readonly call: TimelineCall }

const PERSON: ChangeAuthor = { by: 'person' }

/**
 * Decides who changed a path between two events. It is the first of these that can have changed it:
 * 1. a call that runs or has just ended,
 * 2. a call that ended without a report, which makes the author unclear,
 * 3. a person.
 * @param path absolute.
 */
export function attributeChange(path: string, { ended, running, lost }: ChangeWindow): ChangeAuthor {
  const calls = ended === undefined ? running : [ended, ...running]
  // A call that names the path is a better guess than a command that can change anything.
  const naming = calls.find(({ reach }) => Array.isArray(reach) && reach.includes(path))
  const call = naming ?? calls.find(({ reach }) => canChange(reach, path))
  if (call !== undefined) return { by: 'agent', call: withoutReach(call) }
  const lostCall = lost.find(({ reach }) => canChange(reach, path))
  return lostCall === undefined ? PERSON : { by: 'unclear', call: withoutReach(lostCall) }
}

function canChange(reach: ToolReach, path: string): boolean {
  if (reach === 'nothing') return false
  // An edit may create the directories above its file.
  return reach === 'anything' || reach.some((named) => named === path || named.startsWith(`${path}/`))
}

function withoutReach({ agent, session, prompt, number, tool, summary }: TimelineCall): TimelineCall {
  return { agent, session, prompt, number, tool, summary }
}
