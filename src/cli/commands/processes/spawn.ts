import type { DaemonClient, DaemonMethods } from '../../../daemon/client/index.ts'
import { resolveProcessWorkspace } from '../../access/agent-workspace.ts'
import { withDaemon } from '../../access/daemon-access.ts'
import { type Command, defineCommand } from '../../framework/command.ts'
import type { CommandInvocation } from '../../framework/command-invocation.ts'
import { formatHomeCommand } from '../../framework/hint.ts'
import { UsageError } from '../../framework/usage-error.ts'
import { followProcess } from './process-follower.ts'
import { assertProvider, parseProcessOptions, parseTask } from './process-options.ts'
import { readScript, toScriptError } from './process-script.ts'
import { spawnSeveral } from './spawn-several.ts'

/** Most processes of one comparison. */
const MAX_TIMES = 20

type SpawnInvocation = CommandInvocation<
  | 'agent'
  | 'provider'
  | 'model'
  | 'budget'
  | 'skills'
  | 'tools'
  | 'groups'
  | 'from'
  | 'script'
  | 'max-steps'
  | 'follow'
  | 'times'
  | 'check',
  'intent'
>

export const spawn: Command = defineCommand(
  {
    name: 'spawn',
    summary: 'Start an agent process on its own fork',
    details: `The daemon runs it; coppice ps, logs, strace and steps show its work.
It works on a fork of this directory, of which nothing is imported, or with --vault of a vault.
The fork, named agent-…, stays: see coppice diff agent-…, and keep it with coppice apply agent-…,
or with coppice diff --vault and coppice merge if it is one of a vault.
--script replays a file of model responses. With --follow, the exit code is that of the process.`,
    scope: 'vault',
    options: {
      agent: { summary: 'Agent to run, from coppice agents', value: 'name' },
      provider: {
        summary: 'Model provider: claude, cursor, anthropic, openai, google, ollama, …',
        value: 'name',
      },
      model: { summary: 'The model of that provider', value: 'name' },
      budget: { summary: 'Token limit', value: 'tokens' },
      skills: { summary: 'More skills, separated by commas', value: 'names' },
      tools: { summary: 'More tools by name or device, separated by commas', value: 'names' },
      groups: { summary: 'Groups to join, separated by commas; see coppice kill --group', value: 'names' },
      from: { summary: 'Start from a step of another process: 3@5, or 3 for its last', value: 'pid@step' },
      script: { summary: 'Replay this file of responses in place of a model', value: 'file', offers: 'file' },
      'max-steps': { summary: 'Step limit (10)', value: 'number' },
      times: { summary: 'Run this many in parallel, and compare them', short: 'n', value: 'count' },
      check: { summary: 'With -n: a command that good work passes, such as "npm test"', value: 'command' },
      follow: { summary: 'Show its log until it ends', short: 'f' },
    },
    arguments: { intent: { summary: 'The task for the agent' } },
    examples: [
      'coppice spawn "fix the failing test" --provider claude --follow',
      'coppice spawn "review the last change" --agent code-reviewer --budget 50000',
      'coppice spawn "fix the failing test" -n 3 --check "npm test"',
      'coppice spawn "try it without the cache" --from 3@5',
      'coppice spawn "say hello" --script hello.yaml -f',
    ],
  },
  async (call) => {
    const count = parseTimes(call)
    const params = await createSpawnParams(call)
    return withDaemon(
      call,
      async (client) => {
        await assertProvider(client, params.provider, call.terminal.signal)
        if (count !== undefined)
          return spawnSeveral(call, client, params, { count, check: call.option('check') })
        const spawned = await client.call('spawn', params, call.terminal.signal)
        if (call.has('follow')) return followProcess(client, call, spawned.pid)
        const { pid, fork } = spawned
        const where = fork === null ? '' : ` in ${fork}`
        const next = formatHomeCommand(call, 'logs', String(pid), '--follow')
        await call.output.writeValue(spawned, `process ${pid} runs${where}; see ${next}`)
        if (call.terminal.canAsk && !call.isJson) await printProcessLink(call, client, pid)
        return 0
      },
      { create: true },
    ).catch((error: unknown) => {
      throw toScriptError(call.option('script'), error)
    })
  },
)

/** Prints the address of a process where the page is served. */
async function printProcessLink(call: SpawnInvocation, client: DaemonClient, pid: number): Promise<void> {
  const { link } = await client.call('ui_link', { path: `/process?pid=${pid}` }, call.terminal.signal)
  if (link !== null) await call.output.writeLine(`see ${link}`)
}

async function createSpawnParams(call: SpawnInvocation): Promise<DaemonMethods['spawn']['params']> {
  const script = call.option('script')
  const isComplete = (['script', 'model', 'agent', 'from'] as const).some((option) => call.has(option))
  if (call.option('provider') === 'script' && !isComplete)
    throw new UsageError('--provider script replays a file of responses; name it with --script FILE')
  return {
    ...parseTask(call),
    ...parseProcessOptions(call),
    from: parseRestartPoint(call.option('from')),
    vault: await resolveProcessWorkspace(call),
    ...(script !== undefined && { script: await readScript(script) }),
  }
}

/** Returns the number of processes to compare; undefined for a single one. UsageError. */
function parseTimes(call: SpawnInvocation): number | undefined {
  const count = call.countOption('times')
  if (count === undefined && call.has('check')) throw new UsageError('--check needs -n')
  if (count !== undefined && call.has('follow')) throw new UsageError('-n and --follow exclude each other')
  if (count === 0 || (count ?? 1) > MAX_TIMES)
    throw new UsageError(`-n takes a number from 1 to ${MAX_TIMES}`)
  return count
}

/** Parses `3@5` or `3`. UsageError. */
function parseRestartPoint(text: string | undefined): DaemonMethods['spawn']['params']['from'] {
  if (text === undefined) return undefined
  const [, pid, step] = text.match(/^([1-9]\d*)(?:@([1-9]\d*))?$/) ?? []
  if (pid === undefined) throw new UsageError(`--from takes a process and a step, such as 3@5, not '${text}'`)
  return { pid: Number(pid), ...(step !== undefined && { step: Number(step) }) }
}
