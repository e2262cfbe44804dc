import { isVfsError } from '../../vfs/index.ts'
import { EXIT_BUDGET, EXIT_DONE, type ExitStatus, failure } from '../process/exit.ts'
import type { Process } from '../process/process.ts'
import type { RecordedCall, StepRecord } from '../step/index.ts'
import { type Action, readAnswer } from './action.ts'
import { type Answered, ask } from './ask.ts'
import { LoopDetector } from './loop-detector.ts'
import type { LoopSurroundings } from './loop-surroundings.ts'
import type { ModelResponse } from './model.ts'
import type { Models } from './models.ts'

/** What came of an action: what the model is told, or how the process ends. */
interface Outcome {
  readonly exit?: ExitStatus
  readonly told?: string
  readonly toolPath?: string
  readonly toolInput?: string
  readonly toolError?: string
}

/** What was done about an answer: one action, or all its calls of tools. */
interface Acted {
  readonly action: string
  readonly outcomes: readonly [Outcome, ...Outcome[]]
}

export interface LoopOptions {
  readonly maxSteps: number
  readonly timeoutMs: number
  readonly models: Models
}

/** Asks the model, does what it says, tells it what came of that, and so on until it is done. */
export async function reasonLoop(
  process: Process,
  around: LoopSurroundings,
  options: LoopOptions,
): Promise<ExitStatus> {
  const loops = new LoopDetector()
  for (let step = 1; step <= options.maxSteps; step++) {
    if (!(await process.waitIfPaused())) return failure('context cancelled while paused')
    process.signal.throwIfAborted()
    around.onStep(process, step, options.maxSteps)
    const turn = new Turn(process, around, options, step)
    const exit = await turn.run(loops)
    if (exit !== undefined) return exit
  }
  return failure(`max_steps_exceeded: no result after ${options.maxSteps} steps`)
}

/** One step of the loop. */
class Turn {
  readonly #process: Process
  readonly #around: LoopSurroundings
  readonly #options: LoopOptions
  readonly #step: number
  readonly #startedAt = new Date()

  constructor(process: Process, around: LoopSurroundings, options: LoopOptions, step: number) {
    this.#process = process
    this.#around = around
    this.#options = options
    this.#step = step
  }

  /** How the process ends, if it does. */
  async run(loops: LoopDetector): Promise<ExitStatus | undefined> {
    const { contextId } = this.#process
    const prompt = this.#around.contexts.buildPrompt(contextId)
    const answered = await ask(this.#process, this.#around, this.#options, prompt)
    const { response } = answered
    const acted = await this.#act(response)
    await this.#record(prompt.messages, answered, acted)
    const [{ exit }] = acted.outcomes
    if (exit !== undefined) return exit
    this.#append('assistant', response.content)
    this.#appendTold(response, acted.outcomes)
    if (!loops.isLoop(saidBy(response), toldIn(acted.outcomes))) return undefined
    return failure('loop_detected: the same action had the same outcome again and again')
  }

  async #act(response: ModelResponse): Promise<Acted> {
    const spent = this.#overBudget()
    if (spent !== undefined) return { action: 'budget_exceeded', outcomes: [{ exit: spent }] }
    const [first, ...others] = callsIn(response)
    if (first !== undefined) return this.#doAll([first, ...others])
    const reading = readAnswer(response.content)
    if ('text' in reading) return { action: 'text', outcomes: [this.#completed(reading.text)] }
    if ('problem' in reading) {
      const told = `That was no action: ${reading.problem}. Say it again.`
      return { action: 'malformed', outcomes: [{ told }] }
    }
    return this.#doAll(reading.actions)
  }

  /** One after another: a call may well rest on what the one before it did. */
  async #doAll([first, ...others]: readonly [Action, ...Action[]]): Promise<Acted> {
    const outcomes: [Outcome, ...Outcome[]] = [await this.#do(first)]
    for (const action of others) {
      this.#process.signal.throwIfAborted()
      outcomes.push(await this.#do(action))
    }
    return { action: first.action, outcomes }
  }

  #overBudget(): ExitStatus | undefined {
    const { tokensUsed, spec } = this.#process
    if (spec.contextBudget === 0 || tokensUsed < spec.contextBudget) return undefined
    const text = `Token budget exceeded: ${tokensUsed}/${spec.contextBudget}`
    this.#process.log.push(text)
    this.#process.tell({ kind: 'budget_exceeded', text })
    return { code: EXIT_BUDGET, reason: 'budget_exceeded' }
  }

  async #do(action: Action): Promise<Outcome> {
    switch (action.action) {
      case 'complete':
        return this.#completed(action.result)
      case 'plan':
      case 'replan':
        return { told: `The plan is noted: ${action.steps.length} steps. Go on with the first.` }
      case 'specialize':
        return this.#tried(action.skill, '', () => this.#around.specialize(this.#process, action.skill))
      case 'spawn':
        return this.#tried('spawn', action.intent, () => this.#around.spawnChild(this.#process, action))
      case 'tool_call': {
        const call = this.#around.toolCall(this.#process, action.tool, action.input)
        return this.#tried(call.path, call.input, call.run)
      }
    }
  }

  /** A tool that fails is told to the model, which may do better; only a process that is stopped stops. */
  async #tried(toolPath: string, toolInput: string, work: () => Promise<string>): Promise<Outcome> {
    try {
      return { toolPath, toolInput, told: await work() }
    } catch (error) {
      this.#process.signal.throwIfAborted()
      const toolError = isVfsError(error) || error instanceof Error ? error.message : String(error)
      return { toolPath, toolInput, toolError, told: `Error: ${toolError}` }
    }
  }

  #completed(result: string): Outcome {
    this.#process.result = result
    return { exit: { code: EXIT_DONE, reason: 'completed' } }
  }

  #append(role: 'assistant' | 'user', content: string): void {
    this.#around.makeRoom(this.#process)
    this.#around.contexts.appendMessage(this.#process.contextId, role, content)
  }

  #appendTold({ tool_calls: calls = [] }: ModelResponse, outcomes: Acted['outcomes']): void {
    if (calls.length === 0) this.#append('user', toldIn(outcomes))
    for (const [index, { id }] of calls.entries()) {
      this.#around.makeRoom(this.#process)
      const { told = '' } = outcomes[index] ?? {}
      this.#around.contexts.appendToolResult(this.#process.contextId, id, told)
    }
  }

  async #record(
    messages: StepRecord['messages'],
    { response, model: { provider, model } }: Answered,
    { action, outcomes }: Acted,
  ): Promise<void> {
    const [first, ...others] = outcomes
    const calls = outcomes.map(recordOf)
    const paths = calls.map(({ tool_path }) => tool_path).join(', ')
    const record: StepRecord = {
      step_number: this.#step,
      timestamp: this.#startedAt.toISOString(),
      messages,
      provider,
      model,
      tokens_used: response.tokens_used,
      raw_response: response.content,
      action,
      summary: first.exit?.reason ?? (paths === '' ? action : `${action} ${paths}`),
      ...recordOf(first),
      ...(others.length > 0 && { tool_calls: calls }),
    }
    this.#process.log.push(`step ${this.#step}: ${record.summary}`)
    this.#process.tell({ kind: 'log', text: `step ${this.#step}: ${record.summary}` })
    await this.#around.steps.write(this.#process.uuid, record)
  }
}

function recordOf({ told = '', toolPath = '', toolInput = '', toolError = '' }: Outcome): RecordedCall {
  return {
    tool_path: toolPath,
    tool_input: toolInput,
    tool_result: toolError === '' && toolPath !== '' ? told : '',
    tool_error: toolError,
  }
}

function callsIn({ tool_calls: calls = [] }: ModelResponse): Action[] {
  return calls.map(({ id, name: tool, input }) => ({ action: 'tool_call', tool, input, id }))
}

/** Everything that came of an answer, as one message: of several calls, each under its number and path. */
function toldIn(outcomes: Acted['outcomes']): string {
  const [first, ...others] = outcomes
  if (others.length === 0) return first.told ?? ''
  return outcomes
    .map(({ told = '', toolPath = '' }, index) => `[Result ${index + 1}: ${toolPath}]\n${told}`)
    .join('\n\n')
}

/** All that a model said; a call by the tool calling of its provider is no part of its text, and its id never the same. */
function saidBy({ content, tool_calls: calls = [] }: ModelResponse): string {
  return calls.length === 0
    ? content
    : JSON.stringify([content, ...calls.flatMap(({ name, input }) => [name, input])])
}
