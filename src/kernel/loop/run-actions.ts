import { EXIT_DONE, type ExitStatus } from '../process/exit-status.ts'
import type { Process } from '../process/process.ts'
import { type AgentAction, resolveAction } from './agent-action.ts'
import type { LoopEnvironment } from './loop-environment.ts'

/** Outcome of an action: a message for the model, or the exit status of the process. */
export interface ActionOutcome {
  /** Name of the action or tool, what it is about, and why it failed: `file_edit src/cart.ts: ENOENT: …`. */
  readonly label?: string
  readonly exit?: ExitStatus
  readonly message?: string
  readonly toolPath?: string
  readonly toolInput?: string
  readonly toolError?: string
}

/** Outcomes of an answer: of one action, or of all its tool calls. */
export interface StepOutcome {
  readonly action: string
  readonly outcomes: readonly ActionOutcome[]
}

/** An action, ready to run. */
interface PreparedAction {
  readonly name: string
  readonly isReadOnly: boolean
  run(): Promise<ActionOutcome>
}

/** Runs actions in order. Each waits for those before it, except that consecutive reads run at the same time. */
export async function runActions(
  process: Process,
  environment: LoopEnvironment,
  actions: readonly AgentAction[],
): Promise<StepOutcome> {
  const prepared = actions.map((action) => prepareAction(process, environment, action))
  const outcomes: ActionOutcome[] = []
  for (let start = 0; start < prepared.length; start = outcomes.length) {
    if (start > 0) process.signal.throwIfAborted()
    const next = prepared.slice(start)
    const readCount = next.findIndex(({ isReadOnly }) => !isReadOnly)
    const batch = next.slice(0, readCount === -1 ? next.length : Math.max(readCount, 1))
    outcomes.push(...(await Promise.all(batch.map((action) => action.run()))))
  }
  return { action: prepared[0]?.name ?? 'malformed', outcomes }
}

/** Creates the outcome that asks the model to correct a malformed action. */
export function createMalformedOutcome(problem: string): ActionOutcome {
  return { message: `Malformed action: ${problem}. Send it again.` }
}

/** Ends a process with its result. */
export function completeProcess(process: Process, result: string): ActionOutcome {
  process.result = result
  return { exit: { code: EXIT_DONE, reason: 'completed' } }
}

function prepareAction(
  process: Process,
  environment: LoopEnvironment,
  requested: AgentAction,
): PreparedAction {
  const action = resolveAction(requested)
  if ('problem' in action) {
    const { problem } = action
    return { name: 'malformed', isReadOnly: false, run: async () => createMalformedOutcome(problem) }
  }
  const name = action.action
  if (name !== 'tool_call') {
    return { name, isReadOnly: false, run: () => performAction(process, environment, action) }
  }
  const call = environment.prepareToolCall(process, action.tool, action.input)
  const { path, input, isReadOnly } = call
  const label = formatCall(action.tool, action.input)
  const run = async () => {
    process.emit({ kind: 'tool', text: label })
    const outcome = await runTool(process, path, input, () => call.run())
    return { ...outcome, label: formatCallWithFailure(label, outcome) }
  }
  return { name, isReadOnly, run }
}

async function performAction(
  process: Process,
  environment: LoopEnvironment,
  action: Exclude<AgentAction, { action: 'tool_call' }>,
): Promise<ActionOutcome> {
  switch (action.action) {
    case 'complete':
      return completeProcess(process, action.result)
    case 'plan':
    case 'replan':
      return { message: `The plan is noted: ${action.steps.length} steps. Go on with the first.` }
    case 'specialize':
      return runTool(process, action.skill, '', () => environment.specialize(process, action.skill))
    case 'spawn':
      return {
        label: formatCall('spawn', action),
        ...(await runTool(process, 'spawn', action.intent, () => environment.spawnChild(process, action))),
      }
  }
}

/** Arguments that say what a call is about, the most telling first. */
const SUBJECT_ARGUMENTS = [
  'path',
  'command',
  'src',
  'file',
  'pid',
  'pattern',
  'query',
  'url',
  'subject',
  'intent',
]
const MAX_SUBJECT_CHARACTERS = 60
const MAX_ERROR_CHARACTERS = 120

/** Formats a call for people: its tool, and the file, command or process it is about. */
function formatCall(tool: string, input: unknown): string {
  if (typeof input !== 'object' || input === null) return tool
  const values = new Map<string, unknown>(Object.entries(input))
  const subject = SUBJECT_ARGUMENTS.map((name) => values.get(name)).find((value) => value !== undefined)
  if (typeof subject !== 'string' && typeof subject !== 'number') return tool
  return `${tool} ${truncateLine(String(subject), MAX_SUBJECT_CHARACTERS)}`
}

/** Adds the reason to a call that failed, or the status of its command. */
function formatCallWithFailure(label: string, { toolError = '', message = '' }: ActionOutcome): string {
  if (toolError !== '') return `${label}: ${truncateLine(toolError, MAX_ERROR_CHARACTERS)}`
  // A command that fails is a result, not an error: the model reads its output.
  const status = /^\{"exit_code":([1-9]\d*),"timed_out":(true|false)/.exec(message)
  if (status === null) return label
  return status[2] === 'true' ? `${label}: timed out` : `${label}: exit ${status[1]}`
}

/** Returns the first line of a text, cut to this many characters. */
function truncateLine(text: string, characters: number): string {
  const [line = ''] = text.split('\n')
  return line.length > characters ? `${line.slice(0, characters).toWellFormed()}…` : line
}

/** Runs a tool. Its failure is a message for the model, which may correct it; only cancelling the process throws. */
async function runTool(
  process: Process,
  toolPath: string,
  toolInput: string,
  work: () => Promise<string>,
): Promise<ActionOutcome> {
  try {
    return { toolPath, toolInput, message: await work() }
  } catch (error) {
    process.signal.throwIfAborted()
    const toolError = error instanceof Error ? error.message : String(error)
    return { toolPath, toolInput, toolError, message: `Error: ${toolError}` }
  }
}
