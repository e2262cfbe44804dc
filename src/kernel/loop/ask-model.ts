import { setTimeout } from 'node:timers/promises'
import type { Prompt } from '../context/index.ts'
import { formatFault } from '../event.ts'
import type { Process } from '../process/process.ts'
import type { LoopEnvironment } from './loop-environment.ts'
import { type ModelRequest, type ModelResponse, parseResponse } from './model.ts'
import { formatModel, type ModelFallbacks, type OpenModel } from './model-fallbacks.ts'
import { canFallBack, isTemporary, RetryBackoff } from './retry-backoff.ts'

/** A response and the model that gave it. */
export interface ModelReply {
  readonly response: ModelResponse
  readonly model: OpenModel
}

/** Models of a process, and the limits of its requests. */
export interface AskOptions {
  readonly models: ModelFallbacks
  readonly timeoutMs: number
  /** Time for attempts after a temporary failure. Then the process is paused; with 0 it fails. */
  readonly retryMs: number
}

/**
 * Asks the current model of a process. After a temporary failure it switches to the next model, then tries again for
 * the time given, then pauses the process until somebody resumes it. A model that cannot be started is replaced by the
 * next one, and only repeated together with one that failed temporarily.
 */
export async function askModel(
  process: Process,
  environment: LoopEnvironment,
  { models, timeoutMs, retryMs }: AskOptions,
  prompt: Prompt,
): Promise<ModelReply> {
  let backoff = new RetryBackoff(retryMs)
  let temporary: { readonly error: unknown; readonly failure: string } | undefined
  for (;;) {
    const model = models.current
    try {
      const response = await requestResponse(process, environment, model, timeoutMs, prompt)
      process.tokensUsed += response.tokens_used
      return { response, model }
    } catch (error) {
      if (process.signal.aborted) throw error
      const failure = formatFault(formatModel(model), error)
      if (isTemporary(error)) temporary = { error, failure }
      if (models.tryNext(error)) {
        logLine(process, `${failure}; ${formatModel(models.current)} answers from now on`)
        continue
      }
      if (retryMs === 0 || !canFallBack(error) || temporary === undefined) throw error
      models.reset()
      if (!(await waitForRetry(process, backoff.nextDelay(temporary.error), temporary.failure)))
        backoff = new RetryBackoff(retryMs)
      temporary = undefined
    }
  }
}

/** Waits before the next attempt. Without a delay it pauses the process, and returns false once it is resumed. */
async function waitForRetry(process: Process, delay: number | undefined, failure: string): Promise<boolean> {
  if (delay !== undefined) {
    logLine(process, `${failure}; next attempt in ${Math.ceil(delay / 1000)} s`)
    await setTimeout(delay, undefined, { signal: process.signal })
    return true
  }
  logLine(process, `${failure}; paused until coppice resume ${process.pid}`)
  process.pause(failure)
  await process.waitIfPaused()
  process.signal.throwIfAborted()
  return false
}

function logLine(process: Process, text: string): void {
  process.log.push(text)
  process.emit({ kind: 'log', text })
}

async function requestResponse(
  process: Process,
  { files, listTools }: LoopEnvironment,
  { provider, model, fd }: OpenModel,
  timeoutMs: number,
  prompt: Prompt,
): Promise<ModelResponse> {
  const { pid, spec } = process
  const request: ModelRequest = {
    intent: spec.intent,
    system_prompt: prompt.systemPrompt,
    model,
    max_turns: 1,
    timeout_ms: timeoutMs,
    messages: prompt.messages,
    tools: listTools(process),
  }
  const answer = await files.request(pid, fd, request)
  return parseResponse(answer, `/dev/llm/${provider}`)
}
