import { isVfsError } from '../../vfs/index.ts'
import { EXIT_BUDGET, EXIT_DONE, type ExitStatus, failure } from '../process/exit.ts'
import type { Process } from '../process/process.ts'
import type { StepRecord } from '../step/index.ts'
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
    const { action, outcome } = await this.#act(response)
    await this.#record(prompt.messages, answered, action, outcome)
    if (outcome.exit !== undefined) return outcome.exit
    this.#append('assistant', response.content)
    this.#appendTold(response, outcome.told ?? '')
    if (!loops.isLoop(saidBy(response), outcome.told ?? '')) return undefined
    return failure('loop_detected: the same action had the same outcome again and again')
  }

  async #act(response: ModelResponse): Promise<{ action: string; outcome: Outcome }> {
    const spent = this.#overBudget()
    if (spent !== undefined) return { action: 'budget_exceeded', outcome: { exit: spent } }
    if (response.tool_call !== undefined) {
      const { id, name: tool, input } = response.tool_call
      return { action: 'tool_call', outcome: await this.#do({ action: 'tool_call', tool, input, id }) }
    }
    const reading = readAnswer(response.content)
    if ('text' in reading) return { action: 'text', outcome: this.#completed(reading.text) }
    if ('problem' in reading) {
      return {
        action: 'malformed',
        outcome: { told: `That was no action: ${reading.problem}. Say it again.` },
      }
    }
    return { action: reading.action.action, outcome: await this.#do(reading.action) }
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

  #appendTold({ tool_call: call }: ModelResponse, told: string): void {
    this.#around.makeRoom(this.#process)
    const { contexts } = this.#around
    if (call === undefined) contexts.appendMessage(this.#process.contextId, 'user', told)
    else contexts.appendToolResult(this.#process.contextId, call.id, told)
  }

  async #record(
    messages: StepRecord['messages'],
    { response, model: { provider, model } }: Answered,
    action: string,
    { exit, told = '', toolPath = '', toolInput = '', toolError = '' }: Outcome,
  ): Promise<void> {
    const record: StepRecord = {
      step_number: this.#step,
      timestamp: this.#startedAt.toISOString(),
      messages,
      provider,
      model,
      tokens_used: response.tokens_used,
      raw_response: response.content,
      action,
      summary: exit?.reason ?? (toolPath === '' ? action : `${action} ${toolPath}`),
      tool_path: toolPath,
      tool_input: toolInput,
      tool_result: toolError === '' && toolPath !== '' ? told : '',
      tool_error: toolError,
    }
    this.#process.log.push(`step ${this.#step}: ${record.summary}`)
    this.#process.tell({ kind: 'log', text: `step ${this.#step}: ${record.summary}` })
    await this.#around.steps.write(this.#process.uuid, record)
  }
}

/** All that a model said; a call by the tool calling of its provider is no part of its text, and its id never the same. */
function saidBy({ content, tool_call: call }: ModelResponse): string {
  return call === undefined ? content : JSON.stringify([content, call.name, call.input])
}
