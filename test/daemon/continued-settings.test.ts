import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type AgentKernel, openKernel } from '../../src/agent-kernel/index.ts'
import { createJsonRequestFile, type Device, type Process } from '../../src/kernel/index.ts'
import { call, openScene, type Scene } from '../support/agent-home.ts'

const TOKENS = 10

/** A model that gives these answers one after another, and then none. */
class SlowModel {
  readonly answers: unknown[]
  readonly providers: Readonly<Record<string, Device>>

  constructor(...answers: unknown[]) {
    this.answers = answers
    const open = () =>
      createJsonRequestFile('/dev/llm/slow', async (_body, signal) => {
        const answer = this.answers.shift()
        if (answer !== undefined)
          return {
            content: typeof answer === 'string' ? answer : JSON.stringify(answer),
            tokens_used: TOKENS,
          }
        await new Promise((resolve) => signal?.addEventListener('abort', resolve))
        throw signal?.reason
      })
    const device: Device = { match: 'exact', open }
    this.providers = { slow: device, other: device }
  }
}

const read = call('/dev/fs/notes.txt')
const shell = call('shell_exec', { command: 'echo x > shell.txt' })
/** Options of the process that others continue. */
const limited = {
  skills: ['readonly'],
  tools: ['web_fetch'],
  groups: ['crew'],
  budget: 100,
  max_steps: 7,
}

/** The settings that matter, of a process that runs. */
function describeProcess({ spec, groups }: Process): object {
  const { skills, allowedDevices, tools, contextBudget, maxSteps } = spec
  const hasTool = tools === null || tools.includes('web_fetch')
  return { skills, allowedDevices, hasTool, contextBudget, maxSteps, groups: [...groups] }
}

const find = (agents: AgentKernel, pid: number) => describeProcess(agents.kernel.table.get(pid))

function writeFiles(directory: string, files: Readonly<Record<string, string>>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(directory, path)), { recursive: true })
    writeFileSync(join(directory, path), text)
  }
}

function formatSkill(name: string, allowed: string): string {
  const tools = allowed === '' ? '' : `allowed-tools: ${allowed}\n`
  return `---\nname: ${name}\ndescription: d\n${tools}---\nDo it.\n`
}

const agentYaml = 'allowed_devices: [/dev/fs, /dev/tasks]\ncontext_budget: 50\nmax_steps: 5\n'

async function openLimitedScene(...answers: unknown[]): Promise<Scene & { readonly model: SlowModel }> {
  const model = new SlowModel(...answers)
  const scene = await openScene({}, undefined, {
    providers: model.providers,
    defaults: { provider: 'slow' },
  })
  writeFiles(scene.directory, {
    'skills/readonly/SKILL.md': formatSkill('readonly', '/dev/fs'),
    'skills/commands/SKILL.md': formatSkill('commands', '/dev/shell'),
    'agents/clerk/agent.yaml': agentYaml,
    'agents/clerk/instructions.md': 'Be brief.\n',
    'agents/boss/agent.yaml': 'allowed_devices: [/dev/tty]\ncontext_budget: 20\n',
    'agents/boss/instructions.md': 'Be long.\n',
  })
  return { ...scene, model }
}

/** Runs a process until its model gives no more answers, and kills it. */
async function interrupt(agents: AgentKernel, options: object): Promise<number> {
  const { pid } = await agents.spawn({ intent: 'work', vault: 'base', ...options })
  await expect.poll(async () => (await agents.steps(pid)).length).toBe(1)
  agents.kill(pid, 'SIGKILL')
  await agents.wait(pid)
  return pid
}

describe('a process that continues another', () => {
  it('has the restrictions of one that was killed, and what is left of its limits', async () => {
    const { agents, model } = await openLimitedScene(read)
    const first = await interrupt(agents, limited)
    const { pid } = await agents.resume(first)
    expect(find(agents, pid)).toEqual({
      skills: ['readonly'],
      allowedDevices: ['/dev/fs'],
      hasTool: true,
      contextBudget: 100 - TOKENS,
      maxSteps: 6,
      groups: ['crew'],
    })
    agents.kill(pid, 'SIGKILL')
    await agents.wait(pid)
    await expect(agents.resume(pid)).rejects.toMatchObject({ code: 'ENOENT' })

    model.answers.push(shell, call('/dev/shell', { command: 'ls' }), 'fin')
    const third = await agents.resume(first)
    expect(await agents.wait(third.pid)).toMatchObject({ exit_code: 0, agent: null })
    const [unknown, refused] = await agents.steps(third.pid)
    expect(unknown?.tool_error).toMatch(/no tool 'shell_exec'/)
    expect(refused?.tool_error).toMatch(/^EACCES: .*not granted/)
  })

  it('has them after a restart, also of a daemon that was killed', async () => {
    const { directory, home, agents, model } = await openLimitedScene(read)
    const { pid: first } = await agents.spawn({ intent: 'work', vault: 'base', ...limited })
    await expect.poll(async () => (await agents.steps(first)).length).toBe(1)
    const file = join(directory, 'data/processes.jsonl')
    const left = readFileSync(file, 'utf8')
    await agents.close()
    writeFileSync(file, left)
    await using next = await openKernel({
      home,
      providers: model.providers,
      defaults: { provider: 'slow' },
    })
    expect(next.ps(true)).toMatchObject([{ pid: first, state: 'lost' }])
    const { pid } = await next.resume(first)
    expect(find(next, pid)).toMatchObject({
      allowedDevices: ['/dev/fs'],
      hasTool: true,
      contextBudget: 100 - TOKENS,
      maxSteps: 6,
      groups: ['crew'],
    })
  })

  it('has the original limits with --from, and options override what it had', async () => {
    const { agents } = await openLimitedScene(read)
    const pid = await interrupt(agents, limited)
    const spawn = async (options: object) =>
      find(agents, (await agents.spawn({ intent: 'again', from: { pid, step: 1 }, ...options })).pid)
    expect(await spawn({})).toMatchObject({
      allowedDevices: ['/dev/fs'],
      hasTool: true,
      contextBudget: 100,
      maxSteps: 7,
      groups: ['crew'],
    })
    expect(
      await spawn({ skills: ['commands'], tools: [], budget: 0, max_steps: 9, groups: ['solo'] }),
    ).toEqual({
      skills: ['commands'],
      allowedDevices: ['/dev/shell'],
      hasTool: false,
      contextBudget: 0,
      maxSteps: 9,
      groups: ['solo'],
    })
    expect(await spawn({ agent: 'boss' })).toMatchObject({
      skills: ['readonly'],
      allowedDevices: ['/dev/tty', '/dev/fs'],
      contextBudget: 100,
    })
  })

  it('has the limits that its agent had, and those of another agent if one is named', async () => {
    const { agents, directory } = await openLimitedScene(read)
    const pid = await interrupt(agents, { agent: 'clerk' })
    const unlimited = 'allowed_devices: [/dev/fs, /dev/shell]\ncontext_budget: 5000\n'
    writeFiles(directory, { 'agents/clerk/agent.yaml': unlimited })
    const resumed = await agents.resume(pid)
    const rest = { allowedDevices: ['/dev/fs'], contextBudget: 50 - TOKENS, maxSteps: 4 }
    expect(find(agents, resumed.pid)).toMatchObject(rest)
    const other = await agents.spawn({ intent: 'again', from: { pid }, agent: 'boss' })
    expect(find(agents, other.pid)).toMatchObject({ allowedDevices: ['/dev/tty'], contextBudget: 20 })
  })

  it('has no more devices if its skill declares more or none at all, and fewer if it declares fewer', async () => {
    const { agents, directory } = await openLimitedScene(read)
    const pid = await interrupt(agents, { skills: ['readonly'] })
    const resumeWith = async (allowed: string) => {
      writeFiles(directory, { 'skills/readonly/SKILL.md': formatSkill('readonly', allowed) })
      return find(agents, (await agents.resume(pid)).pid)
    }
    expect(await resumeWith('/dev/fs /dev/shell')).toMatchObject({ allowedDevices: ['/dev/fs'] })
    expect(await resumeWith('')).toMatchObject({ allowedDevices: ['/dev/fs'] })
    expect(await resumeWith('/dev/tty')).toMatchObject({ allowedDevices: [] })
  })

  it('is refused if no tokens or no steps are left', async () => {
    const { agents } = await openLimitedScene(read, read)
    const spent = await agents.spawn({ intent: 'work', vault: 'base', budget: TOKENS })
    expect(await agents.wait(spent.pid)).toMatchObject({ exit_code: 2 })
    await expect(agents.resume(spent.pid)).rejects.toThrow(
      'process 1 has used its 10 tokens; start another from it with: coppice spawn "…" --from 1 --budget <number>',
    )
    const short = await agents.spawn({ intent: 'work', vault: 'base', max_steps: 1 })
    expect(await agents.wait(short.pid)).toMatchObject({ exit_code: 1 })
    await expect(agents.resume(short.pid)).rejects.toThrow('process 2 has used its 1 steps')
    const more = await agents.spawn({ intent: 'work', from: { pid: short.pid }, max_steps: 3 })
    expect(find(agents, more.pid)).toMatchObject({ maxSteps: 3 })
  })

  it('is refused with resume if the other one is done', async () => {
    const { agents } = await openLimitedScene(read, 'fin')
    const { pid } = await agents.spawn({ intent: 'work', vault: 'base' })
    await agents.wait(pid)
    await expect(agents.resume(pid)).rejects.toMatchObject({
      code: 'EINVAL',
      detail: 'process 1 is done; start another from it with: coppice spawn "…" --from 1',
    })
    expect(agents.ps(true)).toHaveLength(1)
  })
})

describe('a record of an older version', () => {
  /** Interrupts a process, and opens the home with the record that an older version would have left. */
  async function reopenOld(options: object, agent: string | null): Promise<AgentKernel> {
    const { directory, home, agents, model } = await openLimitedScene(read)
    await interrupt(agents, options)
    await agents.close()
    const file = join(directory, 'data/processes.jsonl')
    const records: object[] = readFileSync(file, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    const old = records.map((record) => ({ ...record, agent, settings: undefined }))
    writeFileSync(file, old.map((record) => `${JSON.stringify(record)}\n`).join(''))
    return openKernel({ home, providers: model.providers, defaults: { provider: 'slow', maxSteps: 3 } })
  }

  it('continues with the limits of its agent and the defaults', async () => {
    await using agents = await reopenOld({ agent: 'clerk' }, 'clerk')
    const { pid } = await agents.resume(1)
    expect(find(agents, pid)).toMatchObject({ allowedDevices: ['/dev/fs', '/dev/tasks'], maxSteps: 5 })
    await using others = await reopenOld({ budget: 5000 }, null)
    const next = await others.resume(1)
    expect(find(others, next.pid)).toMatchObject({ allowedDevices: null, contextBudget: 0, maxSteps: 3 })
  })

  it('does not continue without its skills, which have to be named', async () => {
    await using agents = await reopenOld({ skills: ['readonly'] }, 'agent')
    await expect(agents.resume(1)).rejects.toThrow(
      'process 1 had skills that an older version did not record; name them with: coppice spawn "…" --from 1 --skills <names>',
    )
    const { pid } = await agents.spawn({ intent: 'work', from: { pid: 1 }, skills: ['readonly'] })
    expect(find(agents, pid)).toMatchObject({ skills: ['readonly'], allowedDevices: ['/dev/fs'] })
  })
})

describe('a child of a restricted process', () => {
  it.each([
    [undefined, ['/dev/fs']],
    ['boss', ['/dev/tty']],
  ])('has the devices of its parent, or those of its agent: %s', async (agent, expected) => {
    const spawn = { action: 'spawn', intent: 'help', wait: false, ...(agent !== undefined && { agent }) }
    const { agents } = await openLimitedScene(spawn)
    const { pid } = await agents.spawn({ intent: 'work', vault: 'base', ...limited })
    await expect.poll(async () => (await agents.steps(pid)).length).toBe(1)
    const [child] = agents.ps(true).filter(({ ppid }) => ppid === pid)
    expect(agents.kernel.table.get(child?.pid ?? 0).allowedDevices).toEqual(expected)
    for (const each of [pid, child?.pid ?? 0]) agents.kill(each, 'SIGKILL')
  })
})
