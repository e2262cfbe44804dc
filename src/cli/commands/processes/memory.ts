import { escapeText } from '../../../text/index.ts'
import { callDevice } from '../../access/call-device.ts'
import type { DaemonAccess } from '../../access/daemon-access.ts'
import { type Command, type CommandGroup, defineCommand } from '../../framework/command.ts'
import type { CommandInvocation } from '../../framework/command-invocation.ts'
import { CommandError } from '../../framework/errors.ts'

const scopes = ['memory', 'global_memory', 'user'] as const

const scopeOption = {
  summary: 'Project (memory), all projects (global_memory) or person (user)',
  value: 'scope',
  choices: scopes,
}

interface MemoryResponse {
  readonly ok: boolean
  readonly message?: string
  readonly error?: string
  readonly snapshot?: readonly { readonly text: string; readonly origin?: string }[]
  readonly used: number
  readonly limit: number
}

const show: Command = defineCommand(
  {
    name: 'memory show',
    summary: 'Show what agents remember',
    scope: 'home',
    options: { scope: scopeOption },
    examples: ['coppice memory show', 'coppice memory show --scope user'],
  },
  async (call) => {
    const answer = await sendMemoryRequest(call, { action: 'snapshot' })
    const lines = (answer.snapshot ?? []).map(({ text }) => `- ${escapeText(text)}`)
    await call.output.writeValue(answer, lines.join('\n') || 'the memory is empty')
  },
)

const add: Command = defineCommand(
  {
    name: 'memory add',
    summary: 'Add a fact to the memory of agents',
    scope: 'home',
    options: { scope: scopeOption },
    arguments: { fact: { summary: 'The fact' } },
    examples: [
      'coppice memory add "tests run with npm test"',
      'coppice memory add --scope user "prefers short answers"',
    ],
  },
  (call) => changeMemory(call, { action: 'add', content: call.argument('fact') }, { create: true }),
)

const remove: Command = defineCommand(
  {
    name: 'memory remove',
    summary: 'Remove a fact from the memory of agents',
    scope: 'home',
    options: { scope: scopeOption },
    arguments: { fact: { summary: 'The fact, or a part of its text' } },
    examples: [
      'coppice memory remove "tests run with"',
      'coppice memory remove --scope user "short answers"',
    ],
  },
  (call) => changeMemory(call, { action: 'remove', old: call.argument('fact') }),
)

const recall: Command = defineCommand(
  {
    name: 'memory recall',
    summary: 'Search the memory and the history of processes',
    scope: 'home',
    options: { limit: { summary: 'Maximum number of results (20)', value: 'number' } },
    arguments: { query: { summary: 'Words to search for' } },
    examples: ['coppice memory recall "failing test"', 'coppice memory recall deploy --limit 5'],
  },
  async (call) => {
    const limit = call.countOption('limit')
    const request = { query: call.argument('query'), ...(limit !== undefined && { max_results: limit }) }
    const { entries } = await callDevice<{
      readonly entries: readonly { readonly text: string; readonly source: string; readonly score: number }[]
    }>(call, '/dev/memory/recall', request)
    const count = await call.output.writeList(
      entries,
      ({ text, source }) => `${source}: ${escapeText(text).replaceAll('\n', ' ')}`,
    )
    if (count === 0 && !call.isJson) await call.output.writeLine('nothing was found')
  },
)

function sendMemoryRequest(
  call: CommandInvocation<'scope'>,
  request: object,
  access?: DaemonAccess,
): Promise<MemoryResponse> {
  const target = call.choiceOption('scope', scopes) ?? 'memory'
  if (target === 'user') return callDevice<MemoryResponse>(call, '/dev/memory/profile', request, access)
  return callDevice<MemoryResponse>(call, '/dev/memory/commit', { ...request, target }, access)
}

async function changeMemory(
  call: CommandInvocation<'scope', 'fact'>,
  request: object,
  access?: DaemonAccess,
): Promise<void> {
  const answer = await sendMemoryRequest(call, request, access)
  const { ok: isDone, error = 'the memory refused the change' } = answer
  if (!isDone) throw new CommandError(error.replace('the action snapshot', 'coppice memory show'))
  await call.output.writeValue(
    answer,
    `${answer.message ?? 'done'} (${answer.used} of ${answer.limit} characters)`,
  )
}

export const memory: CommandGroup = {
  name: 'memory',
  summary: 'See, change and search what agents remember',
  commands: [show, add, remove, recall],
}
