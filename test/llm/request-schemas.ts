import { z } from 'zod'

// Requests of each API, written from its published reference. Unknown fields fail, as they do at the provider.
const text = z.string().min(1)
const jsonObject = z.record(z.string(), z.unknown())
const inputSchema = z.looseObject({ type: z.literal('object') })
const sampling = {
  temperature: z.number().optional(),
  top_p: z.number().optional(),
}

type Refine<Value> = (value: Value, report: (message: string) => void) => void

/** Adds a check of the order of messages, which a schema of single messages cannot express. */
function withOrder<Value>(schema: z.ZodType<Value>, check: Refine<Value>): z.ZodType<Value> {
  return schema.superRefine((value, { addIssue }) => check(value, (message) => addIssue(message)))
}

const isSameSet = (one: readonly string[], other: readonly string[]) =>
  one.toSorted().join() === other.toSorted().join()

// Anthropic: POST /v1/messages
const textBlock = z.strictObject({ type: z.literal('text'), text })
const toolUse = z.strictObject({
  type: z.literal('tool_use'),
  id: z.string().regex(/^[\w-]+$/),
  name: text,
  input: jsonObject,
})
const thinking = z.strictObject({ type: z.literal('thinking'), thinking: z.string(), signature: text })
const redactedThinking = z.strictObject({ type: z.literal('redacted_thinking'), data: text })
const toolResult = z.strictObject({
  type: z.literal('tool_result'),
  tool_use_id: z.string().regex(/^[\w-]+$/),
  content: z.union([z.string(), z.array(textBlock)]),
  is_error: z.boolean().optional(),
})
const anthropicMessage = z.discriminatedUnion('role', [
  z.strictObject({ role: z.literal('user'), content: z.array(z.union([textBlock, toolResult])).min(1) }),
  z.strictObject({
    role: z.literal('assistant'),
    content: z.array(z.union([textBlock, toolUse, thinking, redactedThinking])).min(1),
  }),
])
const anthropicRequest = z.strictObject({
  model: text,
  max_tokens: z.int().positive(),
  stream: z.literal(true),
  system: z.array(textBlock).optional(),
  messages: withOrder(z.array(anthropicMessage).min(1), checkAnthropicOrder),
  tools: z
    .array(
      z.strictObject({
        name: z.string().regex(/^[a-zA-Z0-9_-]{1,128}$/),
        description: z.string().optional(),
        input_schema: inputSchema,
      }),
    )
    .optional(),
  tool_choice: z.strictObject({ type: z.enum(['auto', 'any', 'none']) }).optional(),
  ...sampling,
})

/** The results of all calls begin the message after them. */
function checkAnthropicOrder(
  messages: readonly z.infer<typeof anthropicMessage>[],
  report: (message: string) => void,
): void {
  if (messages[0]?.role !== 'user') report('the first message is not of the user')
  const ids = messages.flatMap(({ content }) =>
    content.flatMap((block) => (block.type === 'tool_use' ? [block.id] : [])),
  )
  if (new Set(ids).size < ids.length) report('two calls have the same id')
  let open: string[] = []
  for (const [index, { role, content }] of messages.entries()) {
    const results = content.flatMap((block) => (block.type === 'tool_result' ? [block.tool_use_id] : []))
    const leading = content.slice(0, results.length).every(({ type }) => type === 'tool_result')
    if (!isSameSet(results, open)) report(`message ${index} has other results than the calls before it`)
    const lastThought = content.findLastIndex(({ type }) => type.endsWith('thinking'))
    if (content.slice(0, lastThought + 1).some(({ type }) => !type.endsWith('thinking')))
      report(`message ${index} has other blocks before its thinking`)
    if (!leading) report(`message ${index} has text before its results`)
    if (messages[index - 1]?.role === role) report(`message ${index} has the role of the one before`)
    open = content.flatMap((block) => (block.type === 'tool_use' ? [block.id] : []))
  }
  if (open.length > 0) report('the last message has calls without results')
}

// OpenAI and Ollama: POST /v1/chat/completions
const functionCall = z.strictObject({
  id: text,
  type: z.literal('function'),
  function: z.strictObject({ name: text, arguments: z.string().refine(isJsonObject, 'no JSON object') }),
})
const openaiMessage = z.discriminatedUnion('role', [
  z.strictObject({ role: z.literal('system'), content: text }),
  z.strictObject({ role: z.literal('user'), content: text }),
  z.strictObject({
    role: z.literal('assistant'),
    content: z.string().nullable().optional(),
    tool_calls: z.array(functionCall).min(1).optional(),
  }),
  z.strictObject({ role: z.literal('tool'), tool_call_id: text, content: z.string() }),
])
const openaiRequest = z.strictObject({
  model: text,
  stream: z.literal(true),
  stream_options: z.strictObject({ include_usage: z.literal(true) }),
  messages: withOrder(z.array(openaiMessage).min(1), checkOpenaiOrder),
  tools: z
    .array(
      z.strictObject({
        type: z.literal('function'),
        function: z.strictObject({
          name: z.string().regex(/^[a-zA-Z0-9_-]{1,64}$/),
          description: z.string().optional(),
          parameters: inputSchema,
          strict: z.boolean().optional(),
        }),
      }),
    )
    .optional(),
  tool_choice: z.enum(['none', 'auto', 'required']).optional(),
  max_tokens: z.int().positive().optional(),
  ...sampling,
})

function isJsonObject(value: string): boolean {
  try {
    return jsonObject.safeParse(JSON.parse(value)).success
  } catch {
    return false
  }
}

/** A message for each call follows before any other. */
function checkOpenaiOrder(
  messages: readonly z.infer<typeof openaiMessage>[],
  report: (message: string) => void,
): void {
  const open = new Set<string>()
  for (const [index, message] of messages.entries()) {
    if (message.role === 'tool') {
      if (!open.delete(message.tool_call_id)) report(`message ${index} is the result of no call`)
      continue
    }
    if (open.size > 0) report(`message ${index} comes before the results of ${[...open].join()}`)
    if (message.role !== 'assistant') continue
    if (!message.content && message.tool_calls === undefined) report(`message ${index} is empty`)
    for (const { id } of message.tool_calls ?? []) open.add(id)
  }
  if (open.size > 0) report(`the calls ${[...open].join()} have no results`)
}

// Google: POST /v1beta/models/{model}:streamGenerateContent?alt=sse
const googlePart = z.union([
  z.strictObject({ text }),
  z.strictObject({
    functionCall: z.strictObject({ id: z.string().optional(), name: text, args: jsonObject }),
    thoughtSignature: z.string().optional(),
  }),
  z.strictObject({
    functionResponse: z.strictObject({ id: z.string().optional(), name: text, response: jsonObject }),
  }),
])
type GooglePart = z.infer<typeof googlePart>
const googleContent = z.strictObject({ role: z.enum(['user', 'model']), parts: z.array(googlePart).min(1) })

/** The subset of OpenAPI that Google accepts: any other keyword is refused. */
const googleSchema: z.ZodType = z.lazy(() =>
  z.strictObject({
    type: z.enum(['string', 'number', 'integer', 'boolean', 'array', 'object', 'null']).optional(),
    ...{ format: z.string().optional(), title: z.string().optional(), description: z.string().optional() },
    ...{ nullable: z.boolean().optional(), default: z.unknown().optional(), example: z.unknown().optional() },
    ...{ enum: z.array(z.string()).optional(), anyOf: z.array(googleSchema).optional() },
    ...{ items: googleSchema.optional(), properties: z.record(z.string(), googleSchema).optional() },
    ...{ required: z.array(z.string()).optional(), propertyOrdering: z.array(z.string()).optional() },
    ...{ minimum: z.number().optional(), maximum: z.number().optional(), pattern: z.string().optional() },
    ...{ minItems: z.int().optional(), maxItems: z.int().optional() },
    ...{ minLength: z.int().optional(), maxLength: z.int().optional() },
  }),
)
const googleRequest = z.strictObject({
  contents: withOrder(z.array(googleContent).min(1), checkGoogleOrder),
  systemInstruction: z.strictObject({ parts: z.array(z.strictObject({ text })).min(1) }).optional(),
  tools: z
    .array(
      z.strictObject({
        functionDeclarations: z.array(
          z.strictObject({
            name: z.string().regex(/^[a-zA-Z_][\w.:-]{0,63}$/),
            description: z.string(),
            parameters: googleSchema.optional(),
          }),
        ),
      }),
    )
    .optional(),
  toolConfig: z
    .strictObject({ functionCallingConfig: z.strictObject({ mode: z.enum(['AUTO', 'ANY', 'NONE']) }) })
    .optional(),
  generationConfig: z.looseObject({ maxOutputTokens: z.int().positive().optional() }).optional(),
})

/** A turn with calls is followed by a turn with as many responses, of the same functions in order. */
function checkGoogleOrder(
  contents: readonly z.infer<typeof googleContent>[],
  report: (message: string) => void,
): void {
  if (contents[0]?.role !== 'user') report('the first turn is not of the user')
  let open = ''
  for (const [index, { parts }] of contents.entries()) {
    if (listNames(parts, 'functionResponse') !== open)
      report(`turn ${index} has other responses than the calls before it`)
    open = listNames(parts, 'functionCall')
  }
  if (open !== '') report('the last turn has calls without responses')
}

function listNames(parts: readonly GooglePart[], kind: 'functionCall' | 'functionResponse'): string {
  return parts
    .flatMap((part) => {
      if (kind === 'functionCall') return 'functionCall' in part ? [part.functionCall.name] : []
      return 'functionResponse' in part ? [part.functionResponse.name] : []
    })
    .join()
}

export type Api = 'anthropic' | 'openai' | 'ollama' | 'google'

/** A request to an API: its address below the base URL, its headers, and its body. */
export const requestSchemas: Readonly<Record<Api, z.ZodType>> = {
  anthropic: z.object({
    url: z.literal('/messages'),
    headers: z.looseObject({
      'x-api-key': z.literal('secret'),
      'anthropic-version': z.literal('2023-06-01'),
    }),
    body: anthropicRequest,
  }),
  openai: z.object({
    url: z.literal('/chat/completions'),
    headers: z.looseObject({ authorization: z.literal('Bearer secret') }),
    body: openaiRequest,
  }),
  ollama: z.object({
    url: z.literal('/chat/completions'),
    headers: z.looseObject({ authorization: z.undefined().optional() }),
    body: openaiRequest,
  }),
  google: z.object({
    url: z.literal('/models/gemini-x:streamGenerateContent?alt=sse'),
    headers: z.looseObject({ 'x-goog-api-key': z.literal('secret') }),
    body: googleRequest,
  }),
}
