import type { ChangeWindow, TimelineCall, ToolReach } from './events/index.ts'

/** The author of a change. `unclear`: an agent's call that did not finish, or a person after it. */
export type ChangeAuthor =
  | { readonly by: 'person' }
  | { readonly by: 'agent' | 'unclear'; readonly call: TimelineCall }

const PERSON: ChangeAuthor = { by: 'person' }

/**
 * Decides who changed a path between two events. A call that runs comes first if it can change the path. A person is
 * the author of everything else.
 * @param path absolute.
 */
export function attributeChange(path: string, { ended, running, lost }: ChangeWindow): ChangeAuthor {
  const calls = ended === undefined ? running : [ended, ...running]
  // A call that names the path is a better guess than a command that can change anything.
  const named = calls.find(({ reach }) => Array.isArray(reach) && reach.includes(path))
  const call = named ?? calls.find(({ reach }) => canChange(reach, path))
  if (call !== undefined) return { by: 'agent', call: toTimelineCall(call) }
  const suspect = lost.find(({ reach }) => canChange(reach, path))
  return suspect === undefined ? PERSON : { by: 'unclear', call: toTimelineCall(suspect) }
}

function canChange(reach: ToolReach, path: string): boolean {
  if (reach === 'nothing') return false
  // An edit may create the directories above its file.
  return reach === 'anything' || reach.some((named) => named === path || named.startsWith(`${path}/`))
}

function toTimelineCall({ agent, session, prompt, number, tool, summary }: TimelineCall): TimelineCall {
  return { agent, session, prompt, number, tool, summary }
}
