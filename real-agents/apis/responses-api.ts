import { z } from 'zod'
import { EventStream, sendJson } from './loopback-server.ts'
import { joinTexts, ModelApi } from './model-api.ts'

/** The part of a request that stories look at. */
export interface ResponsesRequest {
  readonly model: string
  readonly tools: readonly {
    readonly type: string
    readonly name?: string | undefined
    /** Tools of a namespace, such as those of one MCP server. */
    readonly tools?: readonly { readonly name: string }[] | undefined
  }[]
  readonly input: readonly { readonly type: string; readonly output?: unknown }[]
}

const requestSchema: z.ZodType<ResponsesRequest> = z.object({
  model: z.string(),
  stream: z.literal(true),
  tools: z.array(
    z.object({
      type: z.string(),
      name: z.string().optional(),
      tools: z.array(z.object({ name: z.string() })).optional(),
    }),
  ),
  input: z.array(z.object({ type: z.string(), output: z.unknown().optional() })),
})

/** The next turn of the model. */
export type ResponsesTurn =
  | { readonly text: string }
  /** A call of a tool: one of a namespace, such as an MCP server, or of the program itself. */
  | { readonly namespace?: string; readonly tool: string; readonly input: object }

/** Decides on a turn; `index` counts the requests. */
export type ResponsesModel = (request: ResponsesRequest, index: number) => ResponsesTurn

/** Starts a stand-in of the OpenAI Responses API, with streaming. */
export function startResponsesApi(model: ResponsesModel): Promise<ModelApi<ResponsesRequest>> {
  return ModelApi.start('/v1', async ({ path, body, record }, response) => {
    if (path !== '/v1/responses') return sendJson(response, 404, { error: { message: 'not found' } })
    const request = requestSchema.parse(body)
    const index = record(request)
    const id = `resp_${index}`
    const item = createItem(model(request, index), index)
    const stream = new EventStream(response)
    stream.send('response.created', { response: { id } })
    stream.send('response.output_item.done', { output_index: 0, item })
    const usage = { input_tokens: 10, output_tokens: 5, total_tokens: 15 }
    stream.send('response.completed', { response: { id, usage } })
    stream.end()
  })
}

function createItem(turn: ResponsesTurn, index: number): object {
  if ('text' in turn) {
    const content = [{ type: 'output_text', text: turn.text }]
    return { type: 'message', id: `msg_${index}`, role: 'assistant', content }
  }
  return {
    ...{ type: 'function_call', id: `fc_${index}`, call_id: `call_${index}` },
    ...(turn.namespace !== undefined && { namespace: turn.namespace }),
    ...{ name: turn.tool, arguments: JSON.stringify(turn.input) },
  }
}

/** Returns the text of the last tool result of a request, as JSON if it has images; empty if there is none. */
export function getLastOutput({ input }: ResponsesRequest): string {
  const output = input.findLast(({ type }) => type === 'function_call_output')?.output
  if (output === undefined) return ''
  return joinTexts(output) ?? (typeof output === 'string' ? output : JSON.stringify(output))
}
