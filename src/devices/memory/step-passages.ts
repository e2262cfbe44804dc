import { listRecordedCalls, type StepRecord } from '../../kernel/index.ts'
import type { MemoryPassage } from './memory-recall.ts'

/** Yields the first message, the responses and the tool results of a past process, for recall. */
export function* listStepPassages(uuid: string, steps: Iterable<StepRecord>): Generator<MemoryPassage> {
  const source = `process ${uuid}`
  let isFirst = true
  for (const step of steps) {
    const { messages, raw_response } = step
    const [intent] = messages
    if (isFirst && intent !== undefined) yield { source, text: intent.content }
    isFirst = false
    if (raw_response !== '') yield { source, text: raw_response }
    for (const { tool_path, tool_result } of listRecordedCalls(step))
      if (tool_result !== '') yield { source, text: tool_result, origin: tool_path }
  }
}
