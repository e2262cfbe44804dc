import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { openHome } from '../../../backends/vault/index.ts'
import { type ComposeOutcome, compose } from '../../../compose/index.ts'
import type { DaemonClient } from '../../../daemon/client/index.ts'
import { readText } from '../../../vfs/index.ts'
import { CommandError } from '../../framework/errors.ts'
import type { Terminal } from '../../framework/terminal.ts'
import { formatProcessTable, formatTraceEvent, type ProcessInfo } from '../../render/process-format.ts'
import { formatTable } from '../../render/table.ts'
import { alternative, type DemoAgent, demoProject, lead, reviewer, withResponseTime } from './demo-files.ts'
import type { Scene } from './scene.ts'

const VAULT = 'shop'
/** Calls of a process that a scene shows at most. */
const MAX_CALLS = 6
/** Time between two looks at the processes. */
const POLL_MS = 20
/** Steps of the lead in its script. */
const MERGE_STEP = 5
const PLANNED_STEP = 2
/** The lead and its children. */
const LEAD_AND_CHILDREN = 3

/** Imports the project into a vault of a new home, and adds the agents. */
export async function prepareDemo(path: string): Promise<void> {
  const home = await openHome({ path })
  try {
    const vault = await home.createVault(VAULT)
    for (const [file, content] of Object.entries(demoProject)) await vault.write(file, content)
  } finally {
    await home.close()
  }
  for (const { name, description } of [lead, reviewer]) {
    const directory = join(path, 'agents', name)
    await mkdir(directory, { recursive: true })
    await writeFile(join(directory, 'agent.yaml'), `name: ${name}\ndescription: ${description}\n`)
    await writeFile(join(directory, 'instructions.md'), `${description}\n`)
  }
}

/** The daemon of a demo, and the time that each response of its scripted models takes. */
export interface DemoRun {
  readonly client: DaemonClient
  readonly responseMs: number
}

/**
 * Runs a lead with two children, then a reviewer on their merged files, one scene after another. Each scene shows
 * results of real processes. CommandError if one fails.
 */
export async function* runDemoScenes(home: string, run: DemoRun, terminal: Terminal): AsyncGenerator<Scene> {
  const { signal } = terminal
  const { client } = run
  const composed = runComposition(run, signal)
  // Without this, a failure before the first scene would be an unhandled rejection.
  composed.catch(() => {})
  yield await showChildren(client, composed, signal)
  const [leading, reviewing] = await composed
  yield* showMerge(client, leading, terminal)
  yield await showReview(client, reviewing, signal)
  yield await showAlternative(run, leading, signal)
  yield {
    title: 'The merge repairs the project, which was unchanged until now',
    code: `coppice merge ${reviewing.fork} ${VAULT}; coppice cat /README.md; coppice cat /REVIEW.md`,
    result: await mergeFork(home, reviewing),
  }
  yield {
    title: 'The history has every step',
    code: 'coppice ps --all',
    result: formatProcessTable(await client.call('ps', { all: true }, signal)).join('\n'),
  }
}

/** Runs the lead, then the reviewer from its files. */
async function runComposition(
  run: DemoRun,
  signal: AbortSignal,
): Promise<readonly [ProcessInfo, ProcessInfo]> {
  const agents = { lead: { ...lead, depends_on: [] }, reviewer: { ...reviewer, depends_on: ['lead'] } }
  const ended = new Map<string, ProcessInfo>()
  const outcomes = await compose({ agents }, async (name, node, [vault = VAULT]) => {
    const played = name === lead.name ? lead : reviewer
    const intent = 'intent' in node ? node.intent : played.intent
    const status = await runAgent(run, { ...played, intent }, { vault }, signal)
    ended.set(name, status)
    return status
  })
  return [getOutcome(lead.name, ended, outcomes), getOutcome(reviewer.name, ended, outcomes)]
}

function getOutcome(
  name: string,
  ended: ReadonlyMap<string, ProcessInfo>,
  outcomes: readonly ComposeOutcome[],
): ProcessInfo {
  const process = ended.get(name)
  if (process?.exit_code === 0) return process
  const reason = outcomes.find((outcome) => outcome.name === name)?.reason
  throw new CommandError(`the demo failed: ${name}: ${reason}`)
}

async function runAgent(
  { client, responseMs }: DemoRun,
  { name, intent, script: text }: DemoAgent,
  start: { readonly vault?: string; readonly from?: { readonly pid: number; readonly step: number } },
  signal: AbortSignal,
): Promise<ProcessInfo> {
  const script = { name: `${name}.yaml`, text: withResponseTime(text, responseMs) }
  const { pid } = await client.call('spawn', { intent, agent: name, script, ...start }, signal)
  return client.call('wait', { pid }, signal)
}

/** Shows the lead and its children at work, as soon as both have started. */
async function showChildren(
  client: DaemonClient,
  composed: Promise<unknown>,
  signal: AbortSignal,
): Promise<Scene> {
  let isOver = false
  const over = composed.finally(() => {
    isOver = true
  })
  over.catch(() => {})
  let processes = await client.call('ps', {}, signal)
  while (processes.length < LEAD_AND_CHILDREN && !isOver) {
    await pause(POLL_MS, undefined, { signal })
    processes = await client.call('ps', {}, signal)
  }
  if (processes.length < LEAD_AND_CHILDREN) await composed
  return {
    title: 'A lead tests the project, plans, and starts two children on its files; all three work at once',
    code: 'coppice compose up',
    result: formatProcessTable(processes).join('\n'),
  }
}

async function* showMerge(
  client: DaemonClient,
  { pid }: ProcessInfo,
  terminal: Terminal,
): AsyncGenerator<Scene> {
  const { signal } = terminal
  const steps = await client.call('list_steps', { pid }, signal)
  const { tool_calls = [] } = await client.call('get_step_detail', { pid, step: MERGE_STEP }, signal)
  const conflict = tool_calls.find(({ tool_error }) => tool_error !== '')?.tool_error ?? 'no conflict'
  yield {
    title: 'It merges the files of both. A conflict names its path, and the lead resolves it',
    code: `coppice steps ${pid}; coppice steps ${pid} ${MERGE_STEP}`,
    result: [
      ...formatTable(
        steps.map(({ step_number, tokens_used, summary }) => [`${step_number}`, `${tokens_used}`, summary]),
      ),
      '',
      conflict,
    ].join('\n'),
  }
  const events = await Array.fromAsync(client.stream('strace', { pid }, signal))
  const opens = events.filter((event) => 'call' in event && event.call === 'open').slice(-MAX_CALLS)
  yield {
    title: 'Every call is traced; commands run behind the execution boundary',
    code: `coppice strace ${pid} | grep open`,
    result: opens.map((event) => formatTraceEvent(event, { ...terminal, isInteractive: false })).join('\n'),
  }
}

async function showReview(
  client: DaemonClient,
  { pid, fork, result }: ProcessInfo,
  signal: AbortSignal,
): Promise<Scene> {
  const steps = await client.call('list_steps', { pid }, signal)
  const rows = steps.map(({ step_number, tokens_used, summary }) => [
    `${step_number}`,
    `${tokens_used}`,
    summary,
  ])
  return {
    title: 'A reviewer starts from the merged files: it tests them again and writes a review',
    code: `coppice steps ${pid}; coppice diff --vault ${fork}`,
    result: [...formatTable(rows), '', result].join('\n'),
  }
}

async function showAlternative(run: DemoRun, { pid }: ProcessInfo, signal: AbortSignal): Promise<Scene> {
  const from = { pid, step: PLANNED_STEP }
  const alternativeRun = await runAgent(run, alternative, { from }, signal)
  if (alternativeRun.exit_code !== 0) throw new CommandError(`the demo failed: ${alternativeRun.reason}`)
  return {
    title: 'Any step is a point to go another way from: the same conversation, the files of that moment',
    code: `coppice spawn "${alternative.intent}" --from ${pid}@${PLANNED_STEP}; coppice ps --all`,
    result: formatProcessTable([alternativeRun]).join('\n'),
  }
}

/**
 * Merges a fork into the project and returns the texts that it wrote. CommandError if the files are not as expected.
 */
async function mergeFork(path: string, { fork }: ProcessInfo): Promise<string> {
  const home = await openHome({ path })
  try {
    const vault = await home.vault(VAULT)
    const before = await readText(vault, '/total.sh')
    await home.merge(fork ?? VAULT, VAULT)
    const [after, readme, review] = await Promise.all(
      ['/total.sh', '/README.md', '/REVIEW.md'].map((file) => readText(vault, file)),
    )
    if (before !== demoProject['/total.sh'] || after?.includes('sum + 0') !== true) {
      throw new CommandError('the demo failed: the merged project differs from what the agents wrote')
    }
    return `${readme}\n${review}`.trimEnd()
  } finally {
    await home.close()
  }
}
