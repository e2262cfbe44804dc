import type { Prompt } from '../context/index.ts'
import { readAll } from '../device/index.ts'
import { faultText } from '../event.ts'
import type { Process } from '../process/process.ts'
import type { LoopSurroundings } from './loop-surroundings.ts'
import { type ModelResponse, readResponse } from './model.ts'
import { type Models, modelText, type OpenModel } from './models.ts'

const encoder = new TextEncoder()

/** What was asked, and of whom. */
export interface Answered {
  readonly response: ModelResponse
  readonly model: OpenModel
}

/** Asks the model of a process; where it fails for a while the next, which is then the one to ask. */
export async function ask(
  process: Process,
  around: LoopSurroundings,
  { models, timeoutMs }: { readonly models: Models; readonly timeoutMs: number },
  prompt: Prompt,
): Promise<Answered> {
  for (;;) {
    const model = models.current
    try {
      const response = await askOne(process, around, model, timeoutMs, prompt)
      process.tokensUsed += response.tokens_used
      return { response, model }
    } catch (error) {
      if (process.signal.aborted || !models.goOn(error)) throw error
      const text = `${faultText(modelText(model), error)}; ${modelText(models.current)} is asked from now on`
      process.log.push(text)
      process.tell({ kind: 'log', text })
    }
  }
}

async function askOne(
  process: Process,
  { files, toolsOf }: LoopSurroundings,
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
    tools: toolsOf(process),
  }
  await files.write(pid, fd, encoder.encode(JSON.stringify(request)))
  const answer = await readAll({ read: (length) => files.read(pid, fd, length) })
  return readResponse(answer, `/dev/llm/${provider}`)
}
