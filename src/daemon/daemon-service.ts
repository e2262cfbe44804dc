import { z } from 'zod'
import type { AgentKernel, AgentSpawn, AgentSupervision } from '../agent-kernel/index.ts'
import { parseDeviceRequest } from '../devices/operation/index.ts'
import {
  O_RDONLY,
  O_RDWR,
  processOptionShape,
  restartSchema,
  signals,
  supervisorOptionShape,
} from '../kernel/index.ts'
import { readText, VfsError } from '../vfs/index.ts'
import type { DaemonMethods, DaemonStatus, DaemonStreams } from './client/index.ts'
import type { DaemonUi } from './daemon-ui.ts'
import { OpenDevices } from './open-devices.ts'
import { streamQuestionEvents } from './question-events.ts'

/** Parts of the daemon that methods need besides the kernel. */
export interface DaemonControl {
  status(): DaemonStatus
  stop(): void
  readonly ui: DaemonUi
}

/** A method of the daemon, which answers with one value or with a stream. */
export type DaemonMethod =
  | { readonly answer: (params: unknown, signal: AbortSignal) => Promise<unknown> }
  | { readonly stream: (params: unknown, signal: AbortSignal) => AsyncIterable<unknown> }

const pid = z.int().positive()
const path = z.string().min(1)
const nonEmptyString = z.string().trim().min(1)

const taskShape = {
  intent: nonEmptyString,
  agent: nonEmptyString.optional(),
  ...processOptionShape,
  script: z.strictObject({ name: nonEmptyString, text: nonEmptyString }).optional(),
}

const fileShape = {
  vault: nonEmptyString.optional(),
  merge: z.array(nonEmptyString).optional(),
}

const spawnParams: z.ZodType<AgentSpawn> = z.strictObject({
  ...taskShape,
  ...fileShape,
  from: z.strictObject({ pid, step: z.int().positive().optional() }).optional(),
})

const superviseParams: z.ZodType<AgentSupervision> = z.strictObject({
  name: nonEmptyString,
  ...supervisorOptionShape,
  ...fileShape,
  groups: processOptionShape.groups,
  children: z.array(z.strictObject({ ...taskShape, restart: restartSchema.optional() })).min(1),
})

/** Returns all methods of the daemon by name. */
export function createMethods(agents: AgentKernel, daemon: DaemonControl): ReadonlyMap<string, DaemonMethod> {
  const all: Readonly<Record<keyof DaemonMethods | keyof DaemonStreams, DaemonMethod>> = {
    ...createProcessMethods(agents),
    ...createPersonMethods(agents),
    ...createFileMethods(agents),
    ...createMcpMethods(agents),
    ...createHandleMethods(agents),
    ...createUiMethods(daemon.ui),
    status: defineMethod('status', z.strictObject({}), async () => daemon.status()),
    stop: defineMethod('stop', z.strictObject({}), async () => {
      daemon.stop()
      return null
    }),
  }
  return new Map(Object.entries(all))
}

function createProcessMethods(agents: AgentKernel): Record<ProcessMethod, DaemonMethod> {
  const following = z.strictObject({ pid, follow: z.boolean().default(false) })
  const tracing = z.strictObject({ pid: pid.optional(), follow: z.boolean().default(false) })
  return {
    spawn: defineMethod('spawn', spawnParams, (params) => agents.spawn(params)),
    supervise: defineMethod('supervise', superviseParams, (params) => agents.supervise(params)),
    ps: defineMethod('ps', z.strictObject({ all: z.boolean().default(false) }), async ({ all }) =>
      agents.ps(all),
    ),
    kill: defineMethod(
      'kill',
      z.strictObject({ pid, signal: z.enum(signals).default('SIGTERM') }),
      async (params) => {
        agents.kill(params.pid, params.signal)
        return null
      },
    ),
    kill_group: defineMethod(
      'kill_group',
      z.strictObject({ group: nonEmptyString, signal: z.enum(signals).default('SIGTERM') }),
      async ({ group, signal }) => agents.killGroup(group, signal),
    ),
    check: defineMethod('check', z.strictObject({ pid, command: nonEmptyString }), (params, signal) =>
      agents.check(params.pid, params.command, signal),
    ),
    resume: defineMethod('resume', z.strictObject({ pid }), (params) => agents.resume(params.pid)),
    wait: defineMethod('wait', z.strictObject({ pid }), (params) => agents.wait(params.pid)),
    logs: defineStream('logs', following, ({ pid, follow }, signal) => agents.logs(pid, follow, signal)),
    strace: defineStream('strace', tracing, ({ pid, follow }, signal) => agents.trace(pid, follow, signal)),
    list_steps: defineMethod('list_steps', z.strictObject({ pid }), async (params) => {
      const steps = await agents.steps(params.pid)
      // `get_step_detail` has the large fields.
      return steps.map(
        ({ messages: _, raw_response: __, tool_input: ___, tool_result: ____, tool_calls: _____, ...step }) =>
          step,
      )
    }),
    get_step_detail: defineMethod(
      'get_step_detail',
      z.strictObject({ pid, step: z.int().positive() }),
      (params) => getStep(agents, params),
    ),
  }
}

type ProcessMethod =
  | 'spawn'
  | 'supervise'
  | 'resume'
  | 'check'
  | 'ps'
  | 'kill'
  | 'kill_group'
  | 'wait'
  | 'logs'
  | 'strace'
  | 'list_steps'
  | 'get_step_detail'

async function getStep(
  agents: AgentKernel,
  { pid, step }: { readonly pid: number; readonly step: number },
): Promise<unknown> {
  const steps = await agents.steps(pid)
  const found = steps.find(({ step_number: number }) => number === step)
  if (found !== undefined) return found
  const detail = `there is no step ${step}; process ${pid} has ${steps.length} steps`
  throw new VfsError('ENOENT', `/proc/${pid}/steps`, { op: 'steps', detail })
}

function createPersonMethods(agents: AgentKernel): Record<'questions' | 'answer' | 'attach', DaemonMethod> {
  const nothing = z.strictObject({})
  const reply = z.union([z.string(), z.array(z.string())])
  return {
    questions: defineMethod('questions', nothing, async () => agents.tty.pending()),
    answer: defineMethod(
      'answer',
      z.strictObject({ id: nonEmptyString, answers: z.array(reply) }),
      async (params) => {
        agents.tty.answer(params.id, params.answers)
        return null
      },
    ),
    attach: defineStream('attach', nothing, (_params, signal) => streamQuestionEvents(agents.tty, signal)),
  }
}

function createMcpMethods({
  mcp,
}: AgentKernel): Record<'mcp_servers' | 'mcp_inspect' | 'mcp_approve', DaemonMethod> {
  const name = { agent: nonEmptyString, server: nonEmptyString }
  return {
    mcp_servers: defineMethod('mcp_servers', z.strictObject({}), () => mcp.list()),
    mcp_inspect: defineMethod('mcp_inspect', z.strictObject(name), (params, signal) =>
      mcp.inspect(params, signal),
    ),
    mcp_approve: defineMethod(
      'mcp_approve',
      z.strictObject({ ...name, hash: nonEmptyString }),
      async ({ hash, ...server }, signal) => {
        await mcp.approve(server, hash, signal)
        return null
      },
    ),
  }
}

function createFileMethods(agents: AgentKernel): Record<'call' | 'ls' | 'read' | 'stat', DaemonMethod> {
  return {
    call: defineMethod('call', z.strictObject({ path, request: z.unknown() }), (params, signal) =>
      agents.call(params.path, params.request, signal),
    ),
    ls: defineMethod('ls', z.strictObject({ path }), (params, signal) =>
      Array.fromAsync(agents.person.fs.readdir(params.path, { ...agents.asPerson, signal })),
    ),
    read: defineMethod('read', z.strictObject({ path }), (params, signal) =>
      readText(agents.person.fs, params.path, {}, { ...agents.asPerson, signal }),
    ),
    stat: defineMethod('stat', z.strictObject({ path }), (params, signal) =>
      agents.person.fs.stat(params.path, { ...agents.asPerson, signal }),
    ),
  }
}

/** Handles belong to the client that opened them; the signal of a client, aborted when it leaves, identifies it. */
function createHandleMethods(
  agents: AgentKernel,
): Record<'open' | 'read_handle' | 'write_handle' | 'close_handle', DaemonMethod> {
  const handle = z.int().positive()
  const opened = new OpenDevices((path, mode, signal) => agents.open(path, mode, signal))
  return {
    open: defineMethod(
      'open',
      z.strictObject({ path, write: z.boolean().default(false) }),
      (params, client) => opened.open(params.path, params.write ? O_RDWR : O_RDONLY, client),
    ),
    read_handle: defineMethod(
      'read_handle',
      z.strictObject({ handle, length: z.int().nonnegative() }),
      async (params, client) =>
        Buffer.from(await opened.read(params.handle, params.length, client)).toString('base64'),
    ),
    write_handle: defineMethod(
      'write_handle',
      z.strictObject({ handle, base64: z.base64() }),
      async (params, client) => {
        await opened.write(params.handle, Buffer.from(params.base64, 'base64'), client)
        return null
      },
    ),
    close_handle: defineMethod('close_handle', z.strictObject({ handle }), async (params, client) => {
      await opened.close(params.handle, client)
      return null
    }),
  }
}

function createUiMethods(ui: DaemonUi): Record<'ui_open' | 'ui_find' | 'ui_link', DaemonMethod> {
  const page = z.string().startsWith('/').optional()
  return {
    ui_open: defineMethod(
      'ui_open',
      z.strictObject({ port: z.int().min(0).max(65_535).optional(), path: page }),
      ({ port, path: where }) => ui.open(port, where),
    ),
    ui_find: defineMethod('ui_find', z.strictObject({ fork: nonEmptyString }), ({ fork }) => ui.find(fork)),
    ui_link: defineMethod('ui_link', z.strictObject({ path: page }), async ({ path: where }) => ({
      link: await ui.createLink(where),
    })),
  }
}

function defineMethod<Params>(
  name: string,
  schema: z.ZodType<Params>,
  run: (params: Params, signal: AbortSignal) => Promise<unknown>,
): DaemonMethod {
  return { answer: async (params, signal) => run(parseDeviceRequest(name, schema, params), signal) }
}

function defineStream<Params>(
  name: string,
  schema: z.ZodType<Params>,
  run: (params: Params, signal: AbortSignal) => AsyncIterable<unknown>,
): DaemonMethod {
  return { stream: (params, signal) => run(parseDeviceRequest(name, schema, params), signal) }
}
