import type { Prompt } from '../context/index.ts'
import { readAllText } from '../device/index.ts'
import { formatFault } from '../event.ts'
import type { Process } from '../process/process.ts'
import type { LoopEnvironment } from './loop-environment.ts'
import { type ModelResponse, parseResponse } from './model.ts'
import { formatModel, type ModelFallbacks, type OpenModel } from './model-fallbacks.ts'

const encoder = new TextEncoder()

/** A response and the model that gave it. */
export interface ModelReply {
  readonly response: ModelResponse
  readonly model: OpenModel
}

/** Asks the current model of a process. After a temporary failure it switches to the next model. */
export async function askModel(
  process: Process,
  around: LoopEnvironment,
  { models, timeoutMs }: { readonly models: ModelFallbacks; readonly timeoutMs: number },
  prompt: Prompt,
): Promise<ModelReply> {
  for (;;) {
    const model = models.current
    try {
      const response = await requestResponse(process, around, model, timeoutMs, prompt)
      process.tokensUsed += response.tokens_used
      return { response, model }
    } catch (error) {
      if (process.signal.aborted || !models.tryNext(error)) throw error
      const text = `${formatFault(formatModel(model), error)}; ${formatModel(models.current)} is asked from now on`
      process.log.push(text)
      process.emit({ kind: 'log', text })
    }
  }
}

async function requestResponse(
  process: Process,
  { files, listTools }: LoopEnvironment,
  { provider, model, fd }: OpenModel,
  timeoutMs: number,
  prompt: Prompt,
): Promise<ModelResponse> {
  const { pid, spec } = process
  const request = {
    intent: spec.intent,
    system_prompt: prompt.systemPrompt,
    model,
    max_turns: 1,
    timeout_ms: timeoutMs,
    messages: prompt.messages,
    tools: listTools(process),
  }
  await files.write(pid, fd, encoder.encode(JSON.stringify(request)))
  const answer = await readAllText({ read: (length) => files.read(pid, fd, length) })
  return parseResponse(answer, `/dev/llm/${provider}`)
}
