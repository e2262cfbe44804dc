import { z } from 'zod'
import { checkedRequest } from '../../devices/operation/index.ts'
import { O_RDONLY, O_RDWR, signals } from '../../kernel/index.ts'
import { readText, VfsError } from '../../vfs/index.ts'
import type { AgentKernel, AgentSpawn } from '../kernel/index.ts'
import type { DaemonMethods, DaemonStatus, DaemonStreams } from './client/index.ts'
import { OpenDevices } from './open-devices.ts'
import { questionEvents } from './question-events.ts'

/** What a method needs besides the kernel. */
export interface DaemonFace {
  status(): DaemonStatus
  stop(): void
}

/** How a request is answered: once, or with a stream. */
export type Method =
  | { readonly answer: (params: unknown, signal: AbortSignal) => Promise<unknown> }
  | { readonly stream: (params: unknown, signal: AbortSignal) => AsyncIterable<unknown> }

const pid = z.int().positive()
const path = z.string().min(1)
const words = z.string().trim().min(1)

const spawnParams: z.ZodType<AgentSpawn> = z.strictObject({
  intent: words,
  agent: words.optional(),
  provider: words.optional(),
  model: z.string().optional(),
  budget: z.int().nonnegative().optional(),
  skills: z.array(words).optional(),
  vault: words.optional(),
  script: z.strictObject({ name: words, text: words }).optional(),
  max_steps: z.int().positive().optional(),
})

/** Everything a client can ask for, by its name. */
export function methodsOf(agents: AgentKernel, daemon: DaemonFace): ReadonlyMap<string, Method> {
  const all: Readonly<Record<keyof DaemonMethods | keyof DaemonStreams, Method>> = {
    ...processMethods(agents),
    ...personMethods(agents),
    ...fileMethods(agents),
    ...mcpMethods(agents),
    ...handleMethods(agents),
    status: method('status', z.strictObject({}), async () => daemon.status()),
    stop: method('stop', z.strictObject({}), async () => {
      daemon.stop()
      return null
    }),
  }
  return new Map(Object.entries(all))
}

function processMethods(agents: AgentKernel): Record<ProcessMethod, Method> {
  const following = z.strictObject({ pid, follow: z.boolean().default(false) })
  const tracing = z.strictObject({ pid: pid.optional(), follow: z.boolean().default(false) })
  return {
    spawn: method('spawn', spawnParams, (params) => agents.spawn(params)),
    ps: method('ps', z.strictObject({ all: z.boolean().default(false) }), async ({ all }) => agents.ps(all)),
    kill: method(
      'kill',
      z.strictObject({ pid, signal: z.enum(signals).default('SIGTERM') }),
      async (params) => {
        agents.kill(params.pid, params.signal)
        return null
      },
    ),
    wait: method('wait', z.strictObject({ pid }), (params) => agents.wait(params.pid)),
    logs: stream('logs', following, ({ pid, follow }, signal) =>
      agents.events.logs(pid, agents.isRunning(pid) && follow, signal),
    ),
    strace: stream('strace', tracing, ({ pid, follow }, signal) =>
      agents.events.trace(pid, (pid === undefined || agents.isRunning(pid)) && follow, signal),
    ),
    list_steps: method('list_steps', z.strictObject({ pid }), async (params) => {
      const steps = await agents.steps(params.pid)
      return steps.map(
        ({ messages: _, raw_response: __, tool_input: ___, tool_result: ____, tool_calls: _____, ...step }) =>
          step,
      )
    }),
    get_step_detail: method('get_step_detail', z.strictObject({ pid, step: z.int().positive() }), (params) =>
      stepOf(agents, params),
    ),
  }
}

type ProcessMethod = 'spawn' | 'ps' | 'kill' | 'wait' | 'logs' | 'strace' | 'list_steps' | 'get_step_detail'

async function stepOf(
  agents: AgentKernel,
  { pid, step }: { readonly pid: number; readonly step: number },
): Promise<unknown> {
  const steps = await agents.steps(pid)
  const found = steps.find(({ step_number: number }) => number === step)
  if (found !== undefined) return found
  const detail = `process ${pid} has ${steps.length} steps, and no step ${step}`
  throw new VfsError('ENOENT', `/proc/${pid}/steps`, { op: 'steps', detail })
}

function personMethods(
  agents: AgentKernel,
): Record<'questions' | 'answer' | 'attach' | 'agents' | 'skills', Method> {
  const nothing = z.strictObject({})
  const reply = z.union([z.string(), z.array(z.string())])
  return {
    questions: method('questions', nothing, async () => agents.tty.pending()),
    answer: method('answer', z.strictObject({ id: words, answers: z.array(reply) }), async (params) => {
      agents.tty.answer(params.id, params.answers)
      return null
    }),
    attach: stream('attach', nothing, (_params, signal) => questionEvents(agents.tty, signal)),
    agents: method('agents', nothing, () => agents.shelf.agents()),
    skills: method('skills', nothing, () => agents.shelf.skills()),
  }
}

function mcpMethods({ mcp }: AgentKernel): Record<'mcp_servers' | 'mcp_inspect' | 'mcp_approve', Method> {
  const name = { agent: words, server: words }
  return {
    mcp_servers: method('mcp_servers', z.strictObject({}), () => mcp.list()),
    mcp_inspect: method('mcp_inspect', z.strictObject(name), (params, signal) => mcp.inspect(params, signal)),
    mcp_approve: method(
      'mcp_approve',
      z.strictObject({ ...name, hash: words }),
      async ({ hash, ...server }, signal) => {
        await mcp.approve(server, hash, signal)
        return null
      },
    ),
  }
}

function fileMethods(agents: AgentKernel): Record<'call' | 'ls' | 'read' | 'stat', Method> {
  return {
    call: method('call', z.strictObject({ path, request: z.unknown() }), (params, signal) =>
      agents.call(params.path, params.request, signal),
    ),
    ls: method('ls', z.strictObject({ path }), (params, signal) =>
      Array.fromAsync(agents.person.fs.readdir(params.path, { ...agents.asPerson, signal })),
    ),
    read: method('read', z.strictObject({ path }), (params, signal) =>
      readText(agents.person.fs, params.path, {}, { ...agents.asPerson, signal }),
    ),
    stat: method('stat', z.strictObject({ path }), (params, signal) =>
      agents.person.fs.stat(params.path, { ...agents.asPerson, signal }),
    ),
  }
}

function handleMethods(
  agents: AgentKernel,
): Record<'open' | 'read_handle' | 'write_handle' | 'close_handle', Method> {
  const handle = z.int().positive()
  const opened = new OpenDevices((path, mode, signal) => agents.open(path, mode, signal))
  return {
    open: method('open', z.strictObject({ path, write: z.boolean().default(false) }), (params, client) =>
      opened.open(params.path, params.write ? O_RDWR : O_RDONLY, client),
    ),
    read_handle: method(
      'read_handle',
      z.strictObject({ handle, length: z.int().nonnegative() }),
      async (params, client) =>
        Buffer.from(await opened.read(params.handle, params.length, client)).toString('base64'),
    ),
    write_handle: method(
      'write_handle',
      z.strictObject({ handle, base64: z.base64() }),
      async (params, client) => {
        await opened.write(params.handle, Buffer.from(params.base64, 'base64'), client)
        return null
      },
    ),
    close_handle: method('close_handle', z.strictObject({ handle }), async (params, client) => {
      await opened.close(params.handle, client)
      return null
    }),
  }
}

function method<Params>(
  name: string,
  schema: z.ZodType<Params>,
  run: (params: Params, signal: AbortSignal) => Promise<unknown>,
): Method {
  return { answer: async (params, signal) => run(checkedRequest(name, schema, params), signal) }
}

function stream<Params>(
  name: string,
  schema: z.ZodType<Params>,
  run: (params: Params, signal: AbortSignal) => AsyncIterable<unknown>,
): Method {
  return { stream: (params, signal) => run(checkedRequest(name, schema, params), signal) }
}
