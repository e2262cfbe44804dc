import { type AgentCatalog, toDevicePaths } from '../agents/index.ts'
import type { AgentSpec } from '../kernel/index.ts'

/** What a process without an agent goes by. */
export const DEFAULT_AGENT_NAME = 'agent'

const EMPTY_AGENT: AgentSpec = {
  name: DEFAULT_AGENT_NAME,
  systemPrompt: '',
  skills: [],
  allowedDevices: null,
  mcp: {},
}

/** The agent a process is asked for with, and skills besides its own; undefined if it needs neither. ENOENT, EINVAL. */
export async function resolveAgent(
  shelf: AgentCatalog,
  name: string | undefined,
  skills: readonly string[],
): Promise<AgentSpec | undefined> {
  const agent = name === undefined ? undefined : await shelf.agent(name)
  const added = skills.filter((skill) => !agent?.skills.includes(skill))
  if (added.length === 0) return agent
  const base = agent ?? EMPTY_AGENT
  const taken = await Promise.all(added.map((skill) => shelf.skill(skill)))
  const declared = taken.flatMap(({ allowedTools }) =>
    allowedTools === null ? [] : [toDevicePaths(allowedTools)],
  )
  return {
    ...base,
    skills: [...base.skills, ...added],
    systemPrompt: [base.systemPrompt, ...taken.map(({ body }) => body)]
      .filter((part) => part !== '')
      .join('\n\n'),
    allowedDevices: mergeAllowedDevices(base.allowedDevices, declared),
  }
}

/** None declared is everything; an agent that may use everything is held to what its new skills declare. */
function mergeAllowedDevices(
  own: readonly string[] | null,
  declared: readonly (readonly string[])[],
): readonly string[] | null {
  return own === null && declared.length === 0 ? null : [...new Set([...(own ?? []), ...declared.flat()])]
}
