import { readFile } from 'node:fs/promises'
import { basename } from 'node:path'
import type { DaemonMethods } from '../../../daemon/client/index.ts'
import { withDaemon } from '../../access/daemon-access.ts'
import { resolveWorkspaceVault } from '../../access/namespace-access.ts'
import { type Command, defineCommand } from '../../framework/command.ts'
import type { CommandInvocation } from '../../framework/command-invocation.ts'
import { CommandError } from '../../framework/errors.ts'
import { followProcess } from './process-follower.ts'

type SpawnInvocation = CommandInvocation<
  'agent' | 'provider' | 'model' | 'budget' | 'skills' | 'script' | 'max-steps' | 'follow',
  'intent'
>

export const spawn: Command = defineCommand(
  {
    name: 'spawn',
    summary: 'Start a process: an agent that works on its own fork of the vault',
    details: `The daemon runs it; coppice ps, logs, strace and steps show what it does.
Its work is in a fork named agent-…, which stays: coppice diff and coppice merge show and take it.
--script plays a file of answers in place of a model. With --follow, the exit code is that of the process.`,
    scope: 'vault',
    options: {
      agent: { summary: 'The agent it is, see coppice agents', value: 'name' },
      provider: {
        summary: 'Who answers: claude, cursor, anthropic, openai, google, ollama, …',
        value: 'name',
      },
      model: { summary: 'The model of that provider', value: 'name' },
      budget: { summary: 'End it when it has used so many tokens', value: 'tokens' },
      skills: { summary: 'Skills it has besides, with commas between them', value: 'names' },
      script: { summary: 'Play this file of answers in place of a model', value: 'file', offers: 'file' },
      'max-steps': { summary: 'End it after so many steps (10)', value: 'number' },
      follow: { summary: 'Show what it does until it has ended', short: 'f' },
    },
    arguments: { intent: { summary: 'What it is to do' } },
    examples: [
      'coppice spawn "fix the failing test" --provider claude --follow',
      'coppice spawn "review the last change" --agent code-reviewer --budget 50000',
      'coppice spawn "say hello" --script hello.yaml -f',
    ],
  },
  async (call) => {
    const params = await createSpawnParams(call)
    return withDaemon(
      call,
      async (client) => {
        const spawned = await client.call('spawn', params, call.terminal.signal)
        if (call.has('follow')) return followProcess(client, call, spawned.pid)
        const { pid, fork } = spawned
        const where = fork === null ? '' : ` in ${fork}`
        await call.output.writeValue(
          spawned,
          `process ${pid} is at work${where}; see coppice logs ${pid} --follow`,
        )
        return 0
      },
      { create: true },
    )
  },
)

async function createSpawnParams(call: SpawnInvocation): Promise<DaemonMethods['spawn']['params']> {
  const script = call.option('script')
  return {
    intent: call.argument('intent'),
    agent: call.option('agent'),
    provider: call.option('provider'),
    model: call.option('model'),
    budget: call.countOption('budget'),
    skills: call.option('skills')?.split(/\s*,\s*/),
    vault: await resolveWorkspaceVault(call),
    max_steps: call.countOption('max-steps'),
    ...(script !== undefined && { script: await readScript(script) }),
  }
}

/** A script with its name. CommandError. */
export async function readScript(file: string): Promise<{ readonly name: string; readonly text: string }> {
  try {
    return { name: basename(file), text: await readFile(file, 'utf8') }
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') {
      throw new CommandError(`there is no file ${file}; --script names a file of answers, in YAML or NDJSON`)
    }
    throw error
  }
}
