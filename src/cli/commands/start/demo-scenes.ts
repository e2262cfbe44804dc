import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { openHome } from '../../../backends/vault/index.ts'
import type { DaemonClient } from '../../../daemon/client/index.ts'
import { readText } from '../../../vfs/index.ts'
import { callDeviceWith } from '../../access/call-device.ts'
import { CommandError } from '../../framework/errors.ts'
import type { Terminal } from '../../framework/terminal.ts'
import {
  formatLogEvent,
  formatProcessTable,
  formatTraceEvent,
  type ProcessInfo,
} from '../../render/process-format.ts'
import { formatTable } from '../../render/table.ts'
import { formatTaskTable, type ListedTask } from '../processes/tasks.ts'
import { coder, type DemoAgent, demoProject, planner, reviewer } from './demo-files.ts'
import type { Scene } from './scene.ts'

type TaskList = { readonly tasks: readonly ListedTask[] }

const VAULT = 'shop'
/** Number of calls to show of a process. */
const MAX_CALLS = 6

/** Imports the project into a vault of a new home, and adds the three agents. */
export async function prepareDemo(path: string): Promise<void> {
  const home = await openHome({ path })
  try {
    const vault = await home.createVault(VAULT)
    for (const [file, content] of Object.entries(demoProject)) await vault.write(file, content)
  } finally {
    await home.close()
  }
  for (const { name, description } of [planner, coder, reviewer]) {
    const directory = join(path, 'agents', name)
    await mkdir(directory, { recursive: true })
    await writeFile(join(directory, 'agent.yaml'), `name: ${name}\ndescription: ${description}\n`)
    await writeFile(join(directory, 'instructions.md'), `${description}\n`)
  }
}

/**
 * Runs three agents, one scene after another. Each scene shows results of real processes. CommandError if one fails.
 */
export async function* runDemoScenes(
  home: string,
  client: DaemonClient,
  terminal: Terminal,
): AsyncGenerator<Scene> {
  const { signal } = terminal
  yield* runPlanner(client, signal)
  const coded = yield* runCoder(client, terminal)
  const reviewed = yield* runReviewer(client, coded.fork ?? VAULT, signal)
  yield {
    title: 'The merge repairs the project, which was unchanged until now',
    code: `coppice merge ${reviewed.fork} ${VAULT}; coppice cat /total.sh; coppice cat /REVIEW.md`,
    result: await mergeFork(home, reviewed),
  }
  yield {
    title: 'The history has every step',
    code: 'coppice ps --all',
    result: formatProcessTable(await client.call('ps', { all: true }, signal)).join('\n'),
  }
}

async function* runPlanner(client: DaemonClient, signal: AbortSignal): AsyncGenerator<Scene> {
  const { pid } = await waitForSuccess(client, await spawnAgent(client, planner, VAULT, signal), signal)
  yield {
    title: 'A planner runs the tests of a project in its own fork, and leaves tasks and a plan',
    code: `coppice spawn "${planner.intent}" --agent planner --follow`,
    result: (await Array.fromAsync(client.stream('logs', { pid }, signal))).map(formatLogEvent).join('\n'),
  }
  const plan = await client.call('read', { path: '/shared/plan.md' }, signal)
  const devices = await client.call('ls', { path: '/dev' }, signal)
  yield {
    title: 'Agents share files and devices',
    code: 'cat /shared/plan.md; coppice ls /dev',
    result: `${plan}\n${devices.map(({ name }) => name).join('  ')}`,
  }
}

async function* runCoder(client: DaemonClient, terminal: Terminal): AsyncGenerator<Scene, ProcessInfo> {
  const { signal } = terminal
  const pid = await spawnAgent(client, coder, VAULT, signal)
  await client.call('kill', { pid, signal: 'SIGPAUSE' }, signal)
  const running = formatProcessTable(await client.call('ps', {}, signal))
  const intent = await client.call('read', { path: `/proc/${pid}/intent` }, signal)
  yield {
    title: 'A coder takes the first task; it is a process like any other, and can be paused',
    code: `coppice kill -s PAUSE ${pid}; coppice ps; coppice cat /proc/${pid}/intent; coppice kill -s RESUME ${pid}`,
    result: [...running, '', intent].join('\n'),
  }
  await client.call('kill', { pid, signal: 'SIGRESUME' }, signal)
  const status = await waitForSuccess(client, pid, signal)
  yield {
    title: 'Every call is traced; commands run behind the execution boundary',
    code: `coppice strace ${pid} | grep open`,
    result: (await listCalls(client, pid, terminal)).join('\n'),
  }
  return status
}

async function* runReviewer(
  client: DaemonClient,
  vault: string,
  signal: AbortSignal,
): AsyncGenerator<Scene, ProcessInfo> {
  const status = await waitForSuccess(client, await spawnAgent(client, reviewer, vault, signal), signal)
  const steps = await client.call('list_steps', { pid: status.pid }, signal)
  const rows = steps.map(({ step_number, tokens_used, summary }) => [
    `${step_number}`,
    `${tokens_used}`,
    summary,
  ])
  const { tasks } = await callDeviceWith<TaskList>(client, '/dev/tasks', { op: 'task_list' }, signal)
  yield {
    title: 'A reviewer works on a fork of the fork: it runs the tests again and writes a review',
    code: `coppice steps ${status.pid}; coppice tasks list`,
    result: [...formatTable(rows), '', ...formatTaskTable(tasks)].join('\n'),
  }
  return status
}

async function spawnAgent(
  client: DaemonClient,
  { name, intent, script: text }: DemoAgent,
  vault: string,
  signal: AbortSignal,
): Promise<number> {
  const script = { name: `${name}.yaml`, text }
  const { pid } = await client.call('spawn', { intent, agent: name, vault, script }, signal)
  return pid
}

async function waitForSuccess(client: DaemonClient, pid: number, signal: AbortSignal): Promise<ProcessInfo> {
  const status = await client.call('wait', { pid }, signal)
  if (status.exit_code === 0) return status
  throw new CommandError(`the demo failed: ${status.agent} ended with ${status.exit_code}: ${status.reason}`)
}

async function listCalls(client: DaemonClient, pid: number, terminal: Terminal): Promise<string[]> {
  const events = await Array.fromAsync(client.stream('strace', { pid }, terminal.signal))
  const opens = events.filter((event) => 'call' in event && event.call === 'open')
  return opens
    .slice(-MAX_CALLS)
    .map((event) => formatTraceEvent(event, { ...terminal, isInteractive: false }))
}

async function mergeFork(path: string, { fork }: ProcessInfo): Promise<string> {
  const home = await openHome({ path })
  try {
    const vault = await home.vault(VAULT)
    const before = await readText(vault, '/total.sh')
    await home.merge(fork ?? VAULT, VAULT)
    const [after, review] = [await readText(vault, '/total.sh'), await readText(vault, '/REVIEW.md')]
    if (before !== demoProject['/total.sh'] || !after.includes('sum + 0')) {
      throw new CommandError('the demo failed: the merged project differs from what the agents wrote')
    }
    return `before: ${before}after:  ${after}review: ${review}`.trimEnd()
  } finally {
    await home.close()
  }
}
