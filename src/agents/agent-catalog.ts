import type { AgentSpec } from '../kernel/index.ts'
import { type FileSystem, isVfsError, readText, VfsError } from '../vfs/index.ts'
import { parseAgent } from './agent-manifest.ts'
import { assertName, isValidName } from './agent-name.ts'
import { toDevicePaths } from './allowed-tools.ts'
import { getSkillPath, parseSkill, type Skill } from './skill.ts'

const MAX_FILE_BYTES = 256 * 1024

/** A file system with `/agents` and `/skills`, and its name for people. */
export interface AgentSource {
  readonly origin: string
  readonly fs: FileSystem
}

/** An agent or a skill in a list. */
export interface CatalogEntry {
  readonly name: string
  readonly description: string
  readonly origin: string
  /** Reason it cannot be used; absent if it can. */
  readonly problem?: string
}

/** Agents and skills of several sources. An earlier source hides the same name in a later one. */
export class AgentCatalog {
  readonly #sources: readonly AgentSource[]

  constructor(sources: readonly AgentSource[]) {
    this.#sources = sources
  }

  /**
   * Loads an agent. ENOENT if it, its instructions or one of its skills is missing, EINVAL with file and line, EFBIG
   * for a file beyond the limit.
   */
  async agent(name: string): Promise<AgentSpec> {
    assertName('agent', name)
    const path = getAgentPath(name)
    const { fs } = await this.#findSource('agent', name, path)
    const agent = parseAgent(await readBoundedText(fs, path), path, name)
    const instructions = await this.#readInstructions(fs, name)
    const skills = await Promise.all(agent.skills.map((skill) => this.#loadNamedSkill(path, skill)))
    return {
      name,
      systemPrompt: [instructions, ...skills.map(({ body }) => body)]
        .filter((part) => part !== '')
        .join('\n\n'),
      skills: agent.skills,
      provider: agent.models.provider,
      model: agent.models.preferred,
      fallbacks: agent.models.fallback,
      contextBudget: agent.context_budget,
      maxSteps: agent.max_steps,
      allowedDevices: mergeAllowedDevices(agent.allowed_devices, skills),
      tools: agent.tools,
      mcp: agent.mcp,
    }
  }

  /** Loads a skill. ENOENT if there is none, EINVAL with file and line, EFBIG for a file beyond the limit. */
  async skill(name: string): Promise<Skill> {
    assertName('skill', name)
    const path = getSkillPath(name)
    const { fs } = await this.#findSource('skill', name, path)
    return parseSkill(await readBoundedText(fs, path), path, name)
  }

  /** Lists all agents, with the problem of those that cannot be used. */
  agents(): Promise<CatalogEntry[]> {
    return this.#list('agents', async (fs, name) => {
      const path = getAgentPath(name)
      await this.agent(name)
      return parseAgent(await readBoundedText(fs, path), path, name).description
    })
  }

  /** Lists all skills, with the problem of those that cannot be used. */
  skills(): Promise<CatalogEntry[]> {
    return this.#list('skills', async (_fs, name) => (await this.skill(name)).description)
  }

  async #readInstructions(fs: FileSystem, name: string): Promise<string> {
    const path = `/agents/${name}/instructions.md`
    if (await fs.exists(path)) return (await readBoundedText(fs, path)).trim()
    const detail = `agent '${name}' has no instructions.md; write the instructions for the agent there`
    throw new VfsError('ENOENT', path, { op: 'load', detail })
  }

  /** Loads a skill of an agent; reports a missing one at the agent's file. */
  async #loadNamedSkill(agentFile: string, name: string): Promise<Skill> {
    try {
      return await this.skill(name)
    } catch (error) {
      if (!isVfsError(error, 'ENOENT')) throw error
      throw new VfsError('ENOENT', agentFile, { op: 'load', detail: error.detail ?? error.message })
    }
  }

  async #findSource(kind: 'agent' | 'skill', name: string, path: string): Promise<AgentSource> {
    for (const source of this.#sources) if (await source.fs.exists(path)) return source
    const names = await this.#listNames(`${kind}s`)
    const available = names.size === 0 ? 'none' : [...names.keys()].join(', ')
    throw new VfsError('ENOENT', path, {
      op: 'load',
      detail: `there is no ${kind} '${name}'; there are: ${available}`,
    })
  }

  /** Returns each name with the first source that has it, in order. */
  async #listNames(directory: 'agents' | 'skills'): Promise<Map<string, AgentSource>> {
    const found = new Map<string, AgentSource>()
    for (const source of this.#sources) {
      if (!(await source.fs.exists(`/${directory}`))) continue
      for await (const { name, type } of source.fs.readdir(`/${directory}`))
        if (
          type !== 'file' &&
          isValidName(name) &&
          !found.has(name) &&
          (await source.fs.exists(manifestPaths[directory](name)))
        )
          found.set(name, source)
    }
    return new Map([...found].sort(([one], [other]) => (one < other ? -1 : 1)))
  }

  async #list(
    directory: 'agents' | 'skills',
    describe: (fs: FileSystem, name: string) => Promise<string>,
  ): Promise<CatalogEntry[]> {
    const entries: CatalogEntry[] = []
    for (const [name, { fs, origin }] of await this.#listNames(directory)) {
      try {
        entries.push({ name, origin, description: await describe(fs, name) })
      } catch (error) {
        if (!isVfsError(error)) throw error
        entries.push({ name, origin, description: '', problem: error.message })
      }
    }
    return entries
  }
}

function getAgentPath(name: string): string {
  return `/agents/${name}/agent.yaml`
}

/** Manifest file that makes a directory an agent or a skill. */
const manifestPaths = { agents: getAgentPath, skills: getSkillPath } as const

/** Returns the union of the declared devices; null, which is everything, if none are declared. */
function mergeAllowedDevices(own: readonly string[] | undefined, skills: readonly Skill[]): string[] | null {
  const declared = skills.flatMap(({ allowedTools }) =>
    allowedTools === null ? [] : [toDevicePaths(allowedTools)],
  )
  if (own === undefined && declared.length === 0) return null
  return [...new Set([...(own ?? []), ...declared.flat()])]
}

async function readBoundedText(fs: FileSystem, path: string): Promise<string> {
  const { size } = await fs.stat(path)
  if (size <= MAX_FILE_BYTES) return readText(fs, path)
  const detail = `the file has ${size} bytes; the limit is ${MAX_FILE_BYTES}`
  throw new VfsError('EFBIG', path, { op: 'load', detail })
}
