import { convertArrayToReadableStream, MockLanguageModelV3 } from 'ai/test'

type Answer = Awaited<ReturnType<MockLanguageModelV3['doGenerate']>>
type Part =
  Awaited<ReturnType<MockLanguageModelV3['doStream']>>['stream'] extends ReadableStream<infer Item>
    ? Item
    : never

const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
}

/** One response of a model: tool calls, or its final text. */
export type Turn = string | readonly { readonly tool: string; readonly args: unknown }[]

/** A model of the AI SDK that plays a script, whole or in parts. */
export function scriptedModel(turns: readonly Turn[]): MockLanguageModelV3 {
  return new MockLanguageModelV3({
    doGenerate: turns.map(answer),
    doStream: turns.map((turn) => ({ stream: convertArrayToReadableStream(parts(answer(turn))) })),
  })
}

function answer(turn: Turn): Answer {
  const rest = { usage, warnings: [] }
  if (typeof turn === 'string') {
    const content = [{ type: 'text' as const, text: turn }]
    return { content, finishReason: { unified: 'stop', raw: undefined }, ...rest }
  }
  const content = turn.map(({ tool, args }, index) => ({
    type: 'tool-call' as const,
    toolCallId: `${tool}-${index}`,
    toolName: tool,
    input: JSON.stringify(args),
  }))
  return { content, finishReason: { unified: 'tool-calls', raw: undefined }, ...rest }
}

function parts({ content, finishReason }: Answer): Part[] {
  const streamed = content.flatMap((part): Part[] => {
    if (part.type === 'tool-call') return [part]
    if (part.type !== 'text') return []
    return [
      { type: 'text-start', id: '1' },
      { type: 'text-delta', id: '1', delta: part.text },
      { type: 'text-end', id: '1' },
    ]
  })
  return [{ type: 'stream-start', warnings: [] }, ...streamed, { type: 'finish', finishReason, usage }]
}
