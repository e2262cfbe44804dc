import { escapedText } from '../../server/text/index.ts'
import { askDevice } from '../ask-device.ts'
import type { Call } from '../call.ts'
import { type Command, command, type Family } from '../command.ts'
import type { DaemonAccess } from '../daemon-access.ts'
import { CommandError } from '../errors.ts'

const scopes = ['memory', 'global_memory', 'user'] as const

const scope = {
  summary: 'What it is about: this project (memory), everything (global_memory), the person (user)',
  value: 'scope',
  choices: scopes,
}

interface Answer {
  readonly ok: boolean
  readonly message?: string
  readonly error?: string
  readonly snapshot?: readonly { readonly text: string; readonly origin?: string }[]
  readonly used: number
  readonly limit: number
}

const show: Command = command(
  {
    name: 'memory show',
    summary: 'Show what agents remember',
    scope: 'home',
    options: { scope },
    examples: ['coppice memory show', 'coppice memory show --scope user'],
  },
  async (call) => {
    const answer = await commit(call, { action: 'snapshot' })
    const lines = (answer.snapshot ?? []).map(({ text }) => `- ${escapedText(text)}`)
    await call.output.value(answer, lines.join('\n') || 'nothing is remembered')
  },
)

const add: Command = command(
  {
    name: 'memory add',
    summary: 'Have agents remember something',
    scope: 'home',
    options: { scope },
    arguments: { fact: { summary: 'What to remember' } },
    examples: [
      'coppice memory add "tests run with npm test"',
      'coppice memory add --scope user "prefers short answers"',
    ],
  },
  (call) => change(call, { action: 'add', content: call.argument('fact') }, { create: true }),
)

const remove: Command = command(
  {
    name: 'memory remove',
    summary: 'Have agents forget something',
    scope: 'home',
    options: { scope },
    arguments: { fact: { summary: 'What is remembered, or a part of it' } },
    examples: ['coppice memory remove "tests run with"'],
  },
  (call) => change(call, { action: 'remove', old: call.argument('fact') }),
)

const recall: Command = command(
  {
    name: 'memory recall',
    summary: 'Search what is remembered, and what processes said and did',
    scope: 'home',
    options: { limit: { summary: 'How many at most (20)', value: 'number' } },
    arguments: { query: { summary: 'Words to look for' } },
    examples: ['coppice memory recall "failing test"'],
  },
  async (call) => {
    const limit = call.count('limit')
    const request = { query: call.argument('query'), ...(limit !== undefined && { max_results: limit }) }
    const { entries } = await askDevice<{
      readonly entries: readonly { readonly text: string; readonly source: string; readonly score: number }[]
    }>(call, '/dev/memory/recall', request)
    const count = await call.output.list(
      entries,
      ({ text, source }) => `${source}: ${escapedText(text).replaceAll('\n', ' ')}`,
    )
    if (count === 0 && !call.isJson) await call.output.line('nothing of it is remembered')
  },
)

function commit(call: Call<'scope'>, request: object, access?: DaemonAccess): Promise<Answer> {
  const target = call.choice('scope', scopes) ?? 'memory'
  if (target === 'user') return askDevice<Answer>(call, '/dev/memory/profile', request, access)
  return askDevice<Answer>(call, '/dev/memory/commit', { ...request, target }, access)
}

async function change(call: Call<'scope', 'fact'>, request: object, access?: DaemonAccess): Promise<void> {
  const answer = await commit(call, request, access)
  const { ok: isDone, error = 'it was refused' } = answer
  if (!isDone) throw new CommandError(error.replace('the action snapshot', 'coppice memory show'))
  await call.output.value(
    answer,
    `${answer.message ?? 'done'} (${answer.used} of ${answer.limit} characters)`,
  )
}

export const memory: Family = {
  name: 'memory',
  summary: 'See, change and search what agents remember',
  commands: [show, add, remove, recall],
}
