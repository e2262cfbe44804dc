import type { StepRecord } from '../../kernel/index.ts'
import type { Passage } from './recall.ts'

/** What a process of the past was asked, said and was told, to be recalled. */
export function* passagesOfSteps(uuid: string, steps: Iterable<StepRecord>): Generator<Passage> {
  const source = `process ${uuid}`
  let isFirst = true
  for (const { messages, raw_response, tool_path, tool_result } of steps) {
    const [intent] = messages
    if (isFirst && intent !== undefined) yield { source, text: intent.content }
    isFirst = false
    if (raw_response !== '') yield { source, text: raw_response }
    if (tool_result !== '') yield { source, text: tool_result, origin: tool_path }
  }
}
