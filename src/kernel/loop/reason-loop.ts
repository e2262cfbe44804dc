import { createFailure, EXIT_BUDGET, type ExitStatus } from '../process/exit-status.ts'
import type { Process } from '../process/process.ts'
import type { RecordedCall, StepRecord } from '../step/index.ts'
import { type AgentAction, parseAnswer } from './agent-action.ts'
import { type AskOptions, askModel, type ModelReply } from './ask-model.ts'
import { LoopDetector } from './loop-detector.ts'
import type { LoopEnvironment } from './loop-environment.ts'
import type { ModelResponse } from './model.ts'
import {
  type ActionOutcome,
  completeProcess,
  createMalformedOutcome,
  runActions,
  type StepOutcome,
} from './run-actions.ts'

export interface LoopOptions extends AskOptions {
  readonly maxSteps: number
}

/** Runs the loop until the process is done: asks the model, performs its actions, returns the outcomes to it. */
export async function reasonLoop(
  process: Process,
  environment: LoopEnvironment,
  options: LoopOptions,
): Promise<ExitStatus> {
  const loopDetector = new LoopDetector()
  for (let step = 1; step <= options.maxSteps; step++) {
    if (!(await process.waitIfPaused())) return createFailure('context cancelled while paused')
    process.signal.throwIfAborted()
    environment.onStep(process, step, options.maxSteps)
    const loopStep = new LoopStep(process, environment, options, step)
    const exit = await loopStep.run(loopDetector)
    if (exit !== undefined) return exit
  }
  return createFailure(`max_steps_exceeded: no result after ${options.maxSteps} steps`)
}

class LoopStep {
  readonly #process: Process
  readonly #environment: LoopEnvironment
  readonly #options: LoopOptions
  readonly #step: number
  readonly #startedAt = new Date()

  constructor(process: Process, environment: LoopEnvironment, options: LoopOptions, step: number) {
    this.#process = process
    this.#environment = environment
    this.#options = options
    this.#step = step
  }

  /** Runs the step, and returns the exit status if it ends the process. */
  async run(loopDetector: LoopDetector): Promise<ExitStatus | undefined> {
    const { contextId } = this.#process
    const prompt = this.#environment.contexts.buildPrompt(contextId)
    const reply = await askModel(this.#process, this.#environment, this.#options, prompt)
    const { response } = reply
    const stepOutcome = await this.#act(response)
    await this.#record(prompt.messages, reply, stepOutcome)
    const exit = stepOutcome.outcomes.find((outcome) => outcome.exit !== undefined)?.exit
    if (exit !== undefined) return exit
    this.#append('assistant', response.content)
    this.#appendResults(response, stepOutcome.outcomes)
    if (!loopDetector.recordTurn(formatResponse(response), formatOutcomes(stepOutcome.outcomes)))
      return undefined
    return createFailure('loop_detected: the model repeated an action with the same outcome')
  }

  async #act(response: ModelResponse): Promise<StepOutcome> {
    const budgetExit = this.#checkBudget()
    if (budgetExit !== undefined) return { action: 'budget_exceeded', outcomes: [{ exit: budgetExit }] }
    const calls = toToolCallActions(response)
    if (calls.length > 0) return runActions(this.#process, this.#environment, calls)
    const answer = parseAnswer(response.content)
    if ('text' in answer) return { action: 'text', outcomes: [completeProcess(this.#process, answer.text)] }
    if ('problem' in answer)
      return { action: 'malformed', outcomes: [createMalformedOutcome(answer.problem)] }
    return runActions(this.#process, this.#environment, answer.actions)
  }

  /** Returns the exit status if the budget is used up, and logs that. */
  #checkBudget(): ExitStatus | undefined {
    const { tokensUsed, spec } = this.#process
    if (spec.contextBudget === 0 || tokensUsed < spec.contextBudget) return undefined
    const text = `Token budget exceeded: ${tokensUsed}/${spec.contextBudget}`
    this.#process.log.push(text)
    this.#process.emit({ kind: 'budget_exceeded', text })
    return { code: EXIT_BUDGET, reason: 'budget_exceeded' }
  }

  #append(role: 'assistant' | 'user', content: string): void {
    this.#environment.dropOldestMessages(this.#process)
    this.#environment.contexts.appendMessage(this.#process.contextId, role, content)
  }

  #appendResults({ tool_calls: calls = [] }: ModelResponse, outcomes: StepOutcome['outcomes']): void {
    if (calls.length === 0) this.#append('user', formatOutcomes(outcomes))
    for (const [index, { id }] of calls.entries()) {
      this.#environment.dropOldestMessages(this.#process)
      const { message = '' } = outcomes[index] ?? {}
      this.#environment.contexts.appendToolResult(this.#process.contextId, id, message)
    }
  }

  async #record(
    messages: StepRecord['messages'],
    { response, model: { provider, model } }: ModelReply,
    { action, outcomes }: StepOutcome,
  ): Promise<void> {
    const [first = {}, ...others] = outcomes
    const calls = outcomes.map(toRecordedCall)
    const labels = outcomes.map(({ label = action }) => label).join(', ')
    const checkpoint = await this.#process.spec.saveFiles?.(this.#step)
    const record: StepRecord = {
      step_number: this.#step,
      timestamp: this.#startedAt.toISOString(),
      messages,
      provider,
      model,
      tokens_used: response.tokens_used,
      raw_response: response.content,
      action,
      summary: outcomes.find(({ exit }) => exit !== undefined)?.exit?.reason ?? labels,
      ...toRecordedCall(first),
      ...(others.length > 0 && { tool_calls: calls }),
      ...(checkpoint !== undefined && { checkpoint }),
    }
    this.#process.log.push(`step ${this.#step}: ${record.summary}`)
    this.#process.emit({ kind: 'log', text: `step ${this.#step}: ${record.summary}` })
    await this.#environment.steps.write(this.#process.uuid, record)
  }
}

function toRecordedCall({
  message = '',
  toolPath = '',
  toolInput = '',
  toolError = '',
}: ActionOutcome): RecordedCall {
  return {
    tool_path: toolPath,
    tool_input: toolInput,
    tool_result: toolError === '' && toolPath !== '' ? message : '',
    tool_error: toolError,
  }
}

function toToolCallActions({ tool_calls: calls = [] }: ModelResponse): AgentAction[] {
  return calls.map(({ id, name: tool, input }) => ({ action: 'tool_call', tool, input, id }))
}

/** Formats all outcomes as one message. Several calls get a heading each, with number and path. */
function formatOutcomes(outcomes: StepOutcome['outcomes']): string {
  const [first, ...others] = outcomes
  if (others.length === 0) return first?.message ?? ''
  return outcomes
    .map(({ message = '', toolPath = '' }, index) => `[Result ${index + 1}: ${toolPath}]\n${message}`)
    .join('\n\n')
}

/** Formats a response for comparison: text and native calls, without their ids, which always differ. */
function formatResponse({ content, tool_calls: calls = [] }: ModelResponse): string {
  return calls.length === 0
    ? content
    : JSON.stringify([content, ...calls.flatMap(({ name, input }) => [name, input])])
}
