import { type AgentShelf, devicesOf } from '../../agents/index.ts'
import type { AgentSpec } from '../../kernel/index.ts'

/** What a process without an agent goes by. */
export const NAMELESS = 'agent'

const PLAIN: AgentSpec = { name: NAMELESS, systemPrompt: '', skills: [], allowedDevices: null, mcp: {} }

/** The agent a process is asked for with, and skills besides its own; undefined if it needs neither. ENOENT, EINVAL. */
export async function chosenAgent(
  shelf: AgentShelf,
  name: string | undefined,
  skills: readonly string[],
): Promise<AgentSpec | undefined> {
  const agent = name === undefined ? undefined : await shelf.agent(name)
  const added = skills.filter((skill) => !agent?.skills.includes(skill))
  if (added.length === 0) return agent
  const base = agent ?? PLAIN
  const taken = await Promise.all(added.map((skill) => shelf.skill(skill)))
  const declared = taken.flatMap(({ allowedTools }) =>
    allowedTools === null ? [] : [devicesOf(allowedTools)],
  )
  return {
    ...base,
    skills: [...base.skills, ...added],
    systemPrompt: [base.systemPrompt, ...taken.map(({ body }) => body)]
      .filter((part) => part !== '')
      .join('\n\n'),
    allowedDevices: united(base.allowedDevices, declared),
  }
}

/** None declared is everything; an agent that may use everything is held to what its new skills declare. */
function united(
  own: readonly string[] | null,
  declared: readonly (readonly string[])[],
): readonly string[] | null {
  return own === null && declared.length === 0 ? null : [...new Set([...(own ?? []), ...declared.flat()])]
}
