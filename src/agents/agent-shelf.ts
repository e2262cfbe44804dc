import type { AgentSpec } from '../kernel/index.ts'
import { type FileSystem, isVfsError, readText, VfsError } from '../vfs/index.ts'
import { parseAgent } from './agent-manifest.ts'
import { devicesOf } from './allowed-tools.ts'
import { assertName, isName } from './name.ts'
import { parseSkill, type Skill, skillPath } from './skill.ts'

const MAX_FILE_BYTES = 256 * 1024

/** A file system with `/agents` and `/skills`, and what people call it. */
export interface AgentSource {
  readonly origin: string
  readonly fs: FileSystem
}

/** An agent or a skill, as a list shows it. */
export interface ShelfEntry {
  readonly name: string
  readonly description: string
  readonly origin: string
  /** Why it cannot be used; absent for one that can. */
  readonly problem?: string
}

/** Agents and skills of several places. What an earlier one has hides the same name in a later one. */
export class AgentShelf {
  readonly #sources: readonly AgentSource[]

  constructor(sources: readonly AgentSource[]) {
    this.#sources = sources
  }

  /** What an agent brings to its processes. ENOENT, EINVAL with file and line. */
  async agent(name: string): Promise<AgentSpec> {
    assertName('agent', name)
    const path = agentPath(name)
    const { fs } = await this.#sourceOf('agent', name, path)
    const agent = parseAgent(await textOf(fs, path), path, name)
    const instructions = await this.#instructions(fs, name)
    const skills = await Promise.all(agent.skills.map((skill) => this.#skillOf(path, skill)))
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
      allowedDevices: allowedDevices(agent.allowed_devices, skills),
      mcp: agent.mcp,
    }
  }

  /** ENOENT, EINVAL with file and line. */
  async skill(name: string): Promise<Skill> {
    assertName('skill', name)
    const path = skillPath(name)
    const { fs } = await this.#sourceOf('skill', name, path)
    return parseSkill(await textOf(fs, path), path, name)
  }

  /** All agents, those that cannot be used too. */
  agents(): Promise<ShelfEntry[]> {
    return this.#list('agents', async (fs, name) => {
      const path = agentPath(name)
      await this.agent(name)
      return parseAgent(await textOf(fs, path), path, name).description
    })
  }

  /** All skills, those that cannot be used too. */
  skills(): Promise<ShelfEntry[]> {
    return this.#list('skills', async (_fs, name) => (await this.skill(name)).description)
  }

  async #instructions(fs: FileSystem, name: string): Promise<string> {
    const path = `/agents/${name}/instructions.md`
    if (await fs.exists(path)) return (await textOf(fs, path)).trim()
    const detail = `agent '${name}' has no instructions.md; it says what the agent is to do`
    throw new VfsError('ENOENT', path, { op: 'load', detail })
  }

  /** A skill an agent names: what is wrong with that is told at the agent's file. */
  async #skillOf(agentFile: string, name: string): Promise<Skill> {
    try {
      return await this.skill(name)
    } catch (error) {
      if (!isVfsError(error, 'ENOENT')) throw error
      throw new VfsError('ENOENT', agentFile, { op: 'load', detail: error.detail ?? error.message })
    }
  }

  async #sourceOf(kind: 'agent' | 'skill', name: string, path: string): Promise<AgentSource> {
    for (const source of this.#sources) if (await source.fs.exists(path)) return source
    const names = await this.#names(`${kind}s`)
    const known = names.size === 0 ? 'none' : [...names.keys()].join(', ')
    throw new VfsError('ENOENT', path, {
      op: 'load',
      detail: `there is no ${kind} '${name}'; there is: ${known}`,
    })
  }

  /** Each name with the first source that has it, in order. */
  async #names(directory: 'agents' | 'skills'): Promise<Map<string, AgentSource>> {
    const found = new Map<string, AgentSource>()
    for (const source of this.#sources) {
      if (!(await source.fs.exists(`/${directory}`))) continue
      for await (const { name, type } of source.fs.readdir(`/${directory}`))
        if (
          type !== 'file' &&
          isName(name) &&
          !found.has(name) &&
          (await source.fs.exists(fileOf[directory](name)))
        )
          found.set(name, source)
    }
    return new Map([...found].sort(([one], [other]) => (one < other ? -1 : 1)))
  }

  async #list(
    directory: 'agents' | 'skills',
    describe: (fs: FileSystem, name: string) => Promise<string>,
  ): Promise<ShelfEntry[]> {
    const entries: ShelfEntry[] = []
    for (const [name, { fs, origin }] of await this.#names(directory)) {
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

function agentPath(name: string): string {
  return `/agents/${name}/agent.yaml`
}

/** What makes a directory an agent or a skill. */
const fileOf = { agents: agentPath, skills: skillPath } as const

/** The union of what is declared; null, which is everything, if nothing is. */
function allowedDevices(own: readonly string[] | undefined, skills: readonly Skill[]): string[] | null {
  const declared = skills.flatMap(({ allowedTools }) =>
    allowedTools === null ? [] : [devicesOf(allowedTools)],
  )
  if (own === undefined && declared.length === 0) return null
  return [...new Set([...(own ?? []), ...declared.flat()])]
}

async function textOf(fs: FileSystem, path: string): Promise<string> {
  const { size } = await fs.stat(path)
  if (size <= MAX_FILE_BYTES) return readText(fs, path)
  const detail = `the file has ${size} bytes, and may have ${MAX_FILE_BYTES}`
  throw new VfsError('EFBIG', path, { op: 'load', detail })
}
