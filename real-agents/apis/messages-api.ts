import type { ServerResponse } from 'node:http'
import { z } from 'zod'
import { EventStream, sendJson, waitForClose } from './loopback-server.ts'
import { joinTexts, ModelApi } from './model-api.ts'

/** A part of a message that a program sent. */
export type MessageBlock =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'tool_use'; readonly id: string; readonly name: string; readonly input?: unknown }
  | { readonly type: 'tool_result'; readonly tool_use_id: string; readonly content?: unknown }

/** The part of a request that stories look at. */
export interface MessagesRequest {
  readonly model: string
  readonly tools: readonly { readonly name: string }[]
  readonly messages: readonly {
    readonly role: 'user' | 'assistant' | 'system'
    readonly content: string | readonly MessageBlock[]
  }[]
}

const textSchema = z.object({ type: z.literal('text'), text: z.string() })
const blockSchema = z.discriminatedUnion('type', [
  textSchema,
  z.object({ type: z.literal('tool_use'), id: z.string(), name: z.string(), input: z.unknown().optional() }),
  z.object({ type: z.literal('tool_result'), tool_use_id: z.string(), content: z.unknown().optional() }),
])

/** An unknown kind of content fails the story. */
const requestSchema: z.ZodType<MessagesRequest> = z.object({
  model: z.string(),
  stream: z.literal(true),
  max_tokens: z.int().positive(),
  system: z.union([z.string(), z.array(textSchema)]).optional(),
  tools: z.array(z.object({ name: z.string() })).default([]),
  messages: z.array(
    z.object({
      role: z.enum(['user', 'assistant', 'system']),
      content: z.union([z.string(), z.array(blockSchema)]),
    }),
  ),
})

/** The next turn of the model. */
export type MessagesTurn =
  | { readonly text: string }
  /** Texts sent one by one, each after the promise before it. */
  | { readonly pieces: AsyncIterable<string> }
  | { readonly tool: string; readonly input: object }
  /** An HTTP error. */
  | { readonly status: number }
  /** Sends this text and closes the connection in the middle of the answer. */
  | { readonly cut: string }
  /** Begins an answer and never goes on. */
  | { readonly hang: true }

/** Decides on a turn; `index` counts the requests. */
export type MessagesModel = (request: MessagesRequest, index: number) => MessagesTurn

/** A stand-in of the Anthropic Messages API, with streaming. */
export type MessagesApi = ModelApi<MessagesRequest>

export function startMessagesApi(model: MessagesModel): Promise<MessagesApi> {
  return ModelApi.start('', async ({ path, body, record }, response) => {
    if (path.startsWith('/v1/messages/count_tokens')) return sendJson(response, 200, { input_tokens: 10 })
    if (!path.startsWith('/v1/messages')) return sendJson(response, 404, createErrorBody('not_found_error'))
    const request = requestSchema.parse(body)
    const index = record(request)
    const turn = model(request, index)
    if ('status' in turn) return sendJson(response, turn.status, createErrorBody('api_error'))
    const stream = new EventStream(response)
    stream.send('message_start', { message: createMessage(`msg_${index}`, request.model) })
    if ('hang' in turn) return waitForClose(response)
    if ('cut' in turn) return sendCut(stream, turn.cut, response)
    await sendContent(stream, turn, `toolu_${index}`)
    const stop_reason = 'tool' in turn ? 'tool_use' : 'end_turn'
    stream.send('message_delta', { delta: { stop_reason, stop_sequence: null }, usage: { output_tokens: 5 } })
    stream.send('message_stop', {})
    stream.end()
  })
}

type ContentTurn = Exclude<
  MessagesTurn,
  { readonly status: number } | { readonly cut: string } | { readonly hang: true }
>

async function sendCut(stream: EventStream, text: string, response: ServerResponse): Promise<void> {
  stream.send('content_block_start', { index: 0, content_block: { type: 'text', text: '' } })
  stream.send('content_block_delta', { index: 0, delta: { type: 'text_delta', text } })
  // The client has to receive the text before the connection ends.
  await new Promise((resolve) => setTimeout(resolve, 200))
  response.destroy()
}

async function sendContent(stream: EventStream, turn: ContentTurn, id: string): Promise<void> {
  if ('tool' in turn) {
    const content_block = { type: 'tool_use', id, name: turn.tool, input: {} }
    stream.send('content_block_start', { index: 0, content_block })
    const delta = { type: 'input_json_delta', partial_json: JSON.stringify(turn.input) }
    stream.send('content_block_delta', { index: 0, delta })
  } else {
    stream.send('content_block_start', { index: 0, content_block: { type: 'text', text: '' } })
    for await (const text of 'pieces' in turn ? turn.pieces : [turn.text]) {
      stream.send('content_block_delta', { index: 0, delta: { type: 'text_delta', text } })
    }
  }
  stream.send('content_block_stop', { index: 0 })
}

function createMessage(id: string, model: string): object {
  const usage = { input_tokens: 10, output_tokens: 1 }
  return {
    ...{ id, type: 'message', role: 'assistant', model, content: [] },
    ...{ stop_reason: null, stop_sequence: null, usage },
  }
}

function createErrorBody(type: string): object {
  return { type: 'error', error: { type, message: 'the stand-in fails on purpose' } }
}

/** Returns the whole text of the last message that is not from the system, tool results included. */
export function getLastText({ messages }: MessagesRequest): string {
  const content = messages.findLast(({ role }) => role !== 'system')?.content ?? ''
  return typeof content === 'string' ? content : content.map(formatBlock).join('\n')
}

function formatBlock(block: MessageBlock): string {
  if (block.type === 'text') return block.text
  const value = block.type === 'tool_use' ? block.input : block.content
  return typeof value === 'string' ? value : (joinTexts(value) ?? JSON.stringify(value))
}
