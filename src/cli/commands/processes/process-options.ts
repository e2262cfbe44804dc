import type { DaemonClient, DaemonMethods } from '../../../daemon/client/index.ts'
import { VfsError } from '../../../vfs/index.ts'
import type { CommandInvocation } from '../../framework/command-invocation.ts'
import { UsageError } from '../../framework/usage-error.ts'

type SpawnParams = DaemonMethods['spawn']['params']
type ProcessOptions = Pick<
  SpawnParams,
  'provider' | 'model' | 'budget' | 'skills' | 'tools' | 'groups' | 'max_steps'
>
type ProcessInvocation = CommandInvocation<
  'agent' | 'provider' | 'model' | 'budget' | 'skills' | 'tools' | 'groups' | 'max-steps',
  'intent'
>

const MODELS = '/dev/llm'
/** Form of the name of a group. */
const GROUP = /^[A-Za-z][\w.-]*$/

/** Returns the task and the agent of a process. UsageError for an empty one. */
export function parseTask(call: ProcessInvocation): Pick<SpawnParams, 'intent' | 'agent'> {
  const intent = call.argument('intent')
  if (intent.trim() === '') throw new UsageError('<intent> is empty; describe the task for the agent')
  return { intent, agent: parseName(call, 'agent') }
}

/** Returns the options of a process. UsageError for a value that no process takes. */
export function parseProcessOptions(call: ProcessInvocation): ProcessOptions {
  const maxSteps = call.countOption('max-steps')
  if (maxSteps === 0) throw new UsageError('--max-steps takes a number of steps, 1 or more')
  return {
    provider: parseName(call, 'provider'),
    model: parseName(call, 'model'),
    budget: call.countOption('budget'),
    skills: parseNames(call, 'skills'),
    tools: parseNames(call, 'tools'),
    groups: parseGroups(call),
    max_steps: maxSteps,
  }
}

/** ENOENT, with the providers of the daemon, if it has none of this name. */
export async function assertProvider(
  client: DaemonClient,
  provider: string | undefined,
  signal: AbortSignal,
): Promise<void> {
  if (provider === undefined) return
  const entries = await client.call('ls', { path: MODELS }, signal)
  const names = entries.map(({ name }) => name)
  const [first = ''] = provider.split('/')
  if (names.includes(first)) return
  const detail = `there is no provider '${provider}'; there are: ${names.join(', ')}`
  throw new VfsError('ENOENT', provider, { op: 'spawn', detail })
}

function parseName(call: ProcessInvocation, option: 'agent' | 'provider' | 'model'): string | undefined {
  const name = call.option(option)
  if (name?.trim() === '') throw new UsageError(`--${option} is empty; name one`)
  return name
}

function parseNames(call: ProcessInvocation, option: 'skills' | 'tools' | 'groups'): string[] | undefined {
  const names = call.option(option)?.split(',')
  const trimmed = names?.map((name) => name.trim())
  if (trimmed?.includes('') !== true) return trimmed
  throw new UsageError(`--${option} takes names, separated by commas, not '${call.option(option)}'`)
}

function parseGroups(call: ProcessInvocation): string[] | undefined {
  const groups = parseNames(call, 'groups')
  const wrong = groups?.find((name) => !GROUP.test(name))
  if (wrong === undefined) return groups
  throw new UsageError(`--groups takes names of letters, digits, _, . and -, a letter first, not '${wrong}'`)
}
