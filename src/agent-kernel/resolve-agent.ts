import { type AgentCatalog, toDevicePaths } from '../agents/index.ts'
import type { AgentSpec } from '../kernel/index.ts'
import { intersectDevices } from './process-settings.ts'

/** Name of a process without an agent. */
export const DEFAULT_AGENT_NAME = 'agent'

const EMPTY_AGENT: AgentSpec = {
  name: DEFAULT_AGENT_NAME,
  isAnonymous: true,
  systemPrompt: '',
  skills: [],
  allowedDevices: null,
  mcp: {},
}

/**
 * Returns the agent of a new process with its extra skills; undefined if it has neither. Throws ENOENT if one is
 * unknown, EINVAL if its file is invalid.
 */
export async function resolveAgent(
  catalog: AgentCatalog,
  name: string | undefined,
  skills: readonly string[],
): Promise<AgentSpec | undefined> {
  const agent = name === undefined ? undefined : await catalog.agent(name)
  const added = skills.filter((skill) => !agent?.skills.includes(skill))
  if (added.length === 0) return agent
  const base = agent ?? EMPTY_AGENT
  const taken = await Promise.all(added.map((skill) => catalog.skill(skill)))
  const declared = taken.flatMap(({ allowedTools }) =>
    allowedTools === null ? [] : [toDevicePaths(allowedTools)],
  )
  return {
    ...base,
    skills: [...base.skills, ...added],
    addedSkills: added,
    systemPrompt: [base.systemPrompt, ...taken.map(({ body }) => body)]
      .filter((part) => part !== '')
      .join('\n\n'),
    allowedDevices: mergeAllowedDevices(base.allowedDevices, declared),
  }
}

/** Returns an agent that may open no other devices than these; null allows its own. */
export function limitDevices(
  agent: AgentSpec | undefined,
  allowed: readonly string[] | null,
): AgentSpec | undefined {
  if (allowed === null) return agent
  const { allowedDevices } = agent ?? EMPTY_AGENT
  return { ...(agent ?? EMPTY_AGENT), allowedDevices: intersectDevices(allowedDevices, allowed) }
}

/** No declaration allows everything; extra skills then restrict the agent to their declarations. */
function mergeAllowedDevices(
  own: readonly string[] | null,
  declared: readonly (readonly string[])[],
): readonly string[] | null {
  return own === null && declared.length === 0 ? null : [...new Set([...(own ?? []), ...declared.flat()])]
}
