import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import {
  type Device,
  type DeviceContext,
  type DeviceFile,
  O_RDWR,
  sendDeviceRequest,
} from '../../../kernel/index.ts'
import { MemoryFs } from '../../../vfs/index.ts'
import { anthropicDevice, googleDevice, openaiCompatibleDevice } from '../index.ts'
import type { ApiOptions } from './api-device.ts'
import { installedSdk, loadPackage } from './sdk.ts'

const ctx: DeviceContext = {
  pid: 1,
  caller: { kind: 'system' },
  fs: new MemoryFs(),
  signal: new AbortController().signal,
}

/** Wire format of a provider. */
interface Wire {
  device(baseUrl: string, apiKey: string | undefined, options?: ApiOptions): Device
  /** Returns the events of a response: its text in pieces, and its end. */
  text(...pieces: string[]): string[]
  /** Returns the events of a tool call. */
  call(name: string, input: string): string[]
  /** Returns the events of a response with two calls. */
  calls(name: string, inputs: readonly [string, string]): string[]
  /** Returns the conversation as it is sent after both calls. */
  afterCalls(ids: readonly string[]): object
  /** Returns the conversation as it is sent after a call. */
  afterCall(id: string): object
  key(headers: IncomingMessage['headers']): unknown
  refusal(message: string): object
}

const named = (events: object[]) =>
  events.map((event) => `event: ${Reflect.get(event, 'type')}\ndata: ${JSON.stringify(event)}\n\n`)
const data = (events: object[]) => events.map((event) => `data: ${JSON.stringify(event)}\n\n`)

const anthropicStart = {
  type: 'message_start',
  message: {
    ...{ id: 'msg_1', type: 'message', role: 'assistant', model: 'm', content: [], stop_reason: null },
    ...{ stop_sequence: null, usage: { input_tokens: 7, output_tokens: 1 } },
  },
}
const anthropicEnd = (stop_reason: string) => [
  { type: 'content_block_stop', index: 0 },
  { type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage: { output_tokens: 5 } },
  { type: 'message_stop' },
]
const anthropicBlock = (content_block: object, deltas: object[]) => [
  anthropicStart,
  { type: 'content_block_start', index: 0, content_block },
  ...deltas.map((delta) => ({ type: 'content_block_delta', index: 0, delta })),
]

const anthropicCall = (index: number, name: string, partial_json: string) => [
  {
    ...{ type: 'content_block_start', index },
    content_block: { type: 'tool_use', id: `toolu_${index}`, name, input: {} },
  },
  { type: 'content_block_delta', index, delta: { type: 'input_json_delta', partial_json } },
  { type: 'content_block_stop', index },
]

const anthropic: Wire = {
  calls: (name, inputs) =>
    named([
      anthropicStart,
      ...inputs.flatMap((input, index) => anthropicCall(index, name, input)),
      ...anthropicEnd('tool_use').slice(1),
    ]),
  afterCalls: ([one, two]) => ({
    messages: [
      { role: 'user' },
      {
        role: 'assistant',
        content: [
          { type: 'tool_use', id: one, input: { a: 1 } },
          { type: 'tool_use', id: two, input: { a: 2 } },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: one, content: 'one' },
          { type: 'tool_result', tool_use_id: two, content: 'two' },
        ],
      },
    ],
  }),
  device: (baseUrl, apiKey, options) => anthropicDevice({ baseUrl, apiKey, model: 'claude-x', ...options }),
  text: (...pieces) =>
    named([
      ...anthropicBlock(
        { type: 'text', text: '' },
        pieces.map((text) => ({ type: 'text_delta', text })),
      ),
      ...anthropicEnd('end_turn'),
    ]),
  call: (name, input) =>
    named([
      ...anthropicBlock({ type: 'tool_use', id: 'toolu_1', name, input: {} }, [
        { type: 'input_json_delta', partial_json: input.slice(0, 4) },
        { type: 'input_json_delta', partial_json: input.slice(4) },
      ]),
      ...anthropicEnd('tool_use'),
    ]),
  afterCall: (id) => ({
    messages: [
      { role: 'user', content: [{ type: 'text', text: 'go' }] },
      { role: 'assistant', content: [{ type: 'tool_use', id, name: 'echo', input: { a: 1 } }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: 'one' }] },
    ],
  }),
  key: (headers) => headers['x-api-key'],
  refusal: (message) => ({ type: 'error', error: { type: 'some_error', message } }),
}

const openaiChunk = (delta: object, finish_reason: string | null = null) => ({
  ...{ id: 'c1', object: 'chat.completion.chunk', created: 1, model: 'm' },
  choices: [{ index: 0, delta, finish_reason }],
})
const openaiUsage = {
  ...{ id: 'c1', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [] },
  usage: { prompt_tokens: 7, completion_tokens: 5, total_tokens: 12 },
}
const openaiCall = (id: string, name: string, text: string) => ({
  tool_calls: [{ id, type: 'function', function: { name, arguments: text } }],
})

const openai: Wire = {
  calls: (name, inputs) => [
    ...data([
      ...inputs.map((input, index) =>
        openaiChunk({
          role: 'assistant',
          tool_calls: [{ index, ...openaiCall(`call_${index}`, name, input).tool_calls[0] }],
        }),
      ),
      openaiChunk({}, 'tool_calls'),
      openaiUsage,
    ]),
    'data: [DONE]\n\n',
  ],
  afterCalls: ([one = '', two = '']) => ({
    messages: [
      { role: 'system' },
      { role: 'user' },
      {
        role: 'assistant',
        tool_calls: [
          ...openaiCall(one, 'echo', '{"a":1}').tool_calls,
          ...openaiCall(two, 'echo', '{"a":2}').tool_calls,
        ],
      },
      { role: 'tool', tool_call_id: one, content: 'one' },
      { role: 'tool', tool_call_id: two, content: 'two' },
    ],
  }),
  device: (baseUrl, apiKey, options) =>
    openaiCompatibleDevice({ name: 'local', baseUrl, apiKey, model: 'llama', ...options }),
  text: (...pieces) => [
    ...data(pieces.map((content) => openaiChunk({ role: 'assistant', content }))),
    ...data([openaiChunk({}, 'stop'), openaiUsage]),
    'data: [DONE]\n\n',
  ],
  call: (name, input) => [
    ...data([
      openaiChunk({
        role: 'assistant',
        tool_calls: [{ index: 0, ...openaiCall('call_1', name, '').tool_calls[0] }],
      }),
      openaiChunk({ tool_calls: [{ index: 0, function: { arguments: input.slice(0, 4) } }] }),
      openaiChunk({ tool_calls: [{ index: 0, function: { arguments: input.slice(4) } }] }),
      openaiChunk({}, 'tool_calls'),
      openaiUsage,
    ]),
    'data: [DONE]\n\n',
  ],
  afterCall: (id) => ({
    messages: [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'go' },
      { role: 'assistant', ...openaiCall(id, 'echo', '{"a":1}') },
      { role: 'tool', tool_call_id: id, content: 'one' },
    ],
  }),
  key: (headers) => headers.authorization?.replace('Bearer ', ''),
  refusal: (message) => ({ error: { message, type: 'some_error' } }),
}

const googleChunk = (part: object, finishReason?: string) => ({
  candidates: [
    { content: { role: 'model', parts: [part] }, index: 0, ...(finishReason && { finishReason }) },
  ],
  usageMetadata: { promptTokenCount: 7, candidatesTokenCount: 5, totalTokenCount: 12 },
})

const google: Wire = {
  calls: (name, [one, two]) =>
    data([
      googleChunk({ functionCall: { name, args: JSON.parse(one) } }),
      googleChunk({ functionCall: { name, args: JSON.parse(two) } }, 'STOP'),
    ]),
  afterCalls: () => ({
    contents: [
      { role: 'user' },
      {
        role: 'model',
        parts: [{ functionCall: { args: { a: 1 } } }, { functionCall: { args: { a: 2 } } }],
      },
      {
        role: 'user',
        parts: [
          { functionResponse: { response: { content: 'one' } } },
          { functionResponse: { response: { content: 'two' } } },
        ],
      },
    ],
  }),
  device: (baseUrl, apiKey, options) => googleDevice({ baseUrl, apiKey, model: 'gemini-x', ...options }),
  text: (...pieces) =>
    data([...pieces.map((text) => googleChunk({ text })), googleChunk({ text: '' }, 'STOP')]),
  call: (name, input) =>
    data([
      googleChunk({ functionCall: { name, args: JSON.parse(input) }, thoughtSignature: 'signed' }, 'STOP'),
    ]),
  afterCall: () => ({
    contents: [
      { role: 'user', parts: [{ text: 'go' }] },
      {
        role: 'model',
        parts: [{ functionCall: { name: 'echo', args: { a: 1 } }, thoughtSignature: 'signed' }],
      },
      { role: 'user', parts: [{ functionResponse: { name: 'echo', response: { content: 'one' } } }] },
    ],
  }),
  key: (headers) => headers['x-goog-api-key'],
  refusal: (message) => ({ error: { code: 1, message, status: 'SOME_ERROR' } }),
}

interface Asked {
  readonly body: object
  readonly headers: IncomingMessage['headers']
}

type Reply = (response: ServerResponse, asked: Asked) => void

interface Provider {
  readonly url: string
  readonly asked: Asked[]
}

/** Starts a local provider that sends these replies in order, and repeats the last. */
async function provider(...replies: Reply[]): Promise<Provider> {
  const asked: Asked[] = []
  const server = createServer(async (incoming, response) => {
    let text = ''
    for await (const chunk of incoming) text += chunk
    const now = { body: JSON.parse(text), headers: incoming.headers }
    asked.push(now)
    replies[Math.min(asked.length, replies.length) - 1]?.(response, now)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(async () => {
    server.closeAllConnections()
    server.close()
  })
  const { port }: AddressInfo = Object.assign({ port: 0, family: '', address: '' }, server.address())
  return { url: `http://127.0.0.1:${port}`, asked }
}

const streaming =
  (
    events: readonly string[],
    end: (response: ServerResponse) => void = (response) => response.end(),
  ): Reply =>
  (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    for (const event of events) response.write(event)
    end(response)
  }

const refusing =
  (status: number, body: object, headers: Record<string, string> = {}): Reply =>
  (response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers })
    response.end(JSON.stringify(body))
  }

const go = { system_prompt: 'Be brief.', messages: [{ role: 'user', content: 'go' }] }
const echo = { name: 'echo', description: 'Says it again.', input_schema: { type: 'object', properties: {} } }

async function open(device: Device): Promise<DeviceFile> {
  return device.open('', O_RDWR, ctx)
}

async function ask(device: Device, body: object = go, signal?: AbortSignal): Promise<unknown> {
  return JSON.parse(await sendDeviceRequest(await open(device), body, signal))
}

describe.each([
  ['anthropic', anthropic],
  ['openai-compatible', openai],
  ['google', google],
])('the %s provider', (_name, wire) => {
  it('passes the text on while it arrives', async () => {
    const { url } = await provider(streaming(wire.text('Hel', 'lo')))
    const parts: string[] = []
    const file = await wire
      .device(url, 'secret')
      .open('', O_RDWR, { ...ctx, onText: (text) => parts.push(text) })
    await sendDeviceRequest(file, go)
    expect(parts).toEqual(['Hel', 'lo'])
  })

  it('returns the text of the model and its token usage', async () => {
    const { url, asked } = await provider(streaming(wire.text('Hel', 'lo ä')))
    expect(await ask(wire.device(url, 'secret'))).toEqual({ content: 'Hello ä', tokens_used: 12 })
    expect(asked.map(({ headers }) => wire.key(headers))).toEqual(['secret'])
    expect(JSON.stringify(asked[0]?.body)).toContain('Be brief.')
  })

  it('lets the model call a tool, and sends the call back with its result', async () => {
    const { url, asked } = await provider(
      streaming(wire.call('echo', '{"a":1}')),
      streaming(wire.text('Done.')),
    )
    const file = await open(wire.device(url, 'secret'))
    const first = JSON.parse(await sendDeviceRequest(file, { ...go, tools: [echo] }))
    expect(first).toMatchObject({
      content: '',
      tokens_used: 12,
      tool_calls: [{ name: 'echo', input: { a: 1 } }],
    })
    expect(JSON.stringify(asked[0]?.body)).toContain('Says it again.')
    const [{ id }] = first.tool_calls
    const messages = [
      ...go.messages,
      { role: 'assistant', content: '' },
      { role: 'tool', content: 'one', tool_call_id: id },
    ]
    const second = JSON.parse(await sendDeviceRequest(file, { ...go, messages, tools: [echo] }))
    expect(second).toMatchObject({ content: 'Done.' })
    expect(asked[1]?.body).toMatchObject(wire.afterCall(id))
  })

  it('returns all calls of a response, and sends them back together with their results', async () => {
    const { url, asked } = await provider(
      streaming(wire.calls('echo', ['{"a":1}', '{"a":2}'])),
      streaming(wire.text('Done.')),
    )
    const file = await open(wire.device(url, 'secret'))
    const { tool_calls } = JSON.parse(await sendDeviceRequest(file, { ...go, tools: [echo] }))
    expect(tool_calls).toMatchObject([
      { name: 'echo', input: { a: 1 } },
      { name: 'echo', input: { a: 2 } },
    ])
    const ids: string[] = tool_calls.map(({ id }: { id: string }) => id)
    const messages = [
      ...go.messages,
      { role: 'assistant', content: '' },
      { role: 'tool', content: 'one', tool_call_id: ids[0] },
      { role: 'tool', content: 'two', tool_call_id: ids[1] },
    ]
    await sendDeviceRequest(file, { ...go, messages, tools: [echo] })
    expect(asked[1]?.body).toMatchObject(wire.afterCalls(ids))
  })

  it('omits empty messages', async () => {
    const { url, asked } = await provider(streaming(wire.text('ok')))
    const messages = [...go.messages, { role: 'assistant', content: '' }, { role: 'user', content: 'on' }]
    await ask(wire.device(url, 'secret'), { ...go, messages })
    expect(JSON.stringify(asked[0]?.body)).not.toMatch(/"role":"(?:assistant|model)"/)
  })

  it('sends the result of an unknown call as text', async () => {
    const { url, asked } = await provider(streaming(wire.text('ok')))
    const messages = [...go.messages, { role: 'tool', content: 'one', tool_call_id: 'lost' }]
    await ask(wire.device(url, 'secret'), { ...go, messages })
    expect(JSON.stringify(asked[0]?.body)).toContain(String.raw`The result of a tool call:\none`)
  })

  it.each([
    [401, 'EACCES', 'the API key was refused'],
    [404, 'ENOENT', 'there is no such model'],
    [400, 'EINVAL', 'the request was refused'],
    [429, 'EUNAVAILABLE', 'too many requests'],
    [500, 'EUNAVAILABLE', 'the provider failed'],
    [529, 'EUNAVAILABLE', 'the provider failed'],
    [405, 'EIO', 'check the base URL'],
    [418, 'EIO', 'unexpected response'],
  ])('reports status %i as %s', async (status, code, message) => {
    const { url } = await provider(refusing(status, wire.refusal('because I say so')))
    await expect(ask(wire.device(url, 'secret', { maxRetries: 0 }))).rejects.toMatchObject({
      code,
      detail: expect.stringMatching(new RegExp(`${message}.*because I say so`)),
    })
  })

  it('retries transient failures within its time limit', async () => {
    const busy = refusing(429, wire.refusal('busy'), { 'retry-after-ms': '1' })
    const { url, asked } = await provider(busy, busy, streaming(wire.text('at last')))
    expect(await ask(wire.device(url, 'secret'))).toMatchObject({ content: 'at last' })
    expect(asked.length).toBe(3)
    const never = await provider(busy)
    await expect(ask(wire.device(never.url, 'secret', { maxRetries: 1 }))).rejects.toMatchObject({
      code: 'EUNAVAILABLE',
      detail: expect.stringMatching(/too many requests.*429.*busy/),
    })
    const long = await provider(refusing(429, wire.refusal('busy'), { 'retry-after': '50' }))
    await expect(ask(wire.device(long.url, 'secret'), { ...go, timeout_ms: 100 })).rejects.toMatchObject({
      code: 'ETIMEDOUT',
    })
  })

  it('fails if the response breaks off in any way', async () => {
    const [first = '', second = '', third = ''] = wire.text('Hel', 'lo')
    const begun = [first, second, third].slice(0, wire === anthropic ? 3 : 1)
    const cut = await provider(streaming(begun, (response) => setImmediate(() => response.destroy())))
    const options = { maxRetries: 0 }
    await expect(ask(wire.device(cut.url, 'secret', options))).rejects.toMatchObject({
      code: 'EUNAVAILABLE',
      detail: expect.stringContaining('broke off'),
    })
    const short = await provider(streaming(begun))
    await expect(ask(wire.device(short.url, 'secret', options))).rejects.toMatchObject({
      code: 'EUNAVAILABLE',
      detail: expect.stringContaining('broke off'),
    })
    const garbled = await provider(streaming([...begun, 'data: {"half\n\n']))
    await expect(ask(wire.device(garbled.url, 'secret', options))).rejects.toMatchObject({
      code: 'EUNAVAILABLE',
    })
    await expect(ask(wire.device('http://127.0.0.1:1', 'secret', options))).rejects.toMatchObject({
      code: 'EUNAVAILABLE',
      detail: expect.stringContaining('cannot be reached'),
    })
  })

  it('closes the connection at once when cancelled during a response', async () => {
    const { promise: begun, resolve: begin } = Promise.withResolvers<void>()
    const { promise: closed, resolve: close } = Promise.withResolvers<void>()
    const { url } = await provider((response, asked) => {
      streaming(wire.text('Hel', 'lo').slice(0, 3), (open) => open.on('close', close))(response, asked)
      begin()
    })
    const abort = new AbortController()
    const answer = ask(wire.device(url, 'secret'), go, abort.signal)
    answer.catch(() => {})
    await begun
    abort.abort(new Error('SIGKILL'))
    await expect(answer).rejects.toThrow('SIGKILL')
    await closed
  })

  it('prints nothing', async () => {
    const outputs = (['log', 'info', 'warn', 'error'] as const).map((name) => vi.spyOn(console, name))
    onTestFinished(() => void vi.restoreAllMocks())
    const { url } = await provider(refusing(500, wire.refusal('no')), streaming(wire.text('x')))
    const device = wire.device(url, 'secret', { maxRetries: 0 })
    await ask(device).catch(() => {})
    await ask(device, {
      ...go,
      messages: [{ role: 'system', content: 'Also.' }, ...go.messages],
      tools: [echo],
    })
    for (const output of outputs) expect(output).not.toHaveBeenCalled()
  })
})

describe('a provider', () => {
  it('uses no key, address or model from the environment', async () => {
    const { url, asked } = await provider(streaming(openai.text('free')))
    expect(await ask(openai.device(url, undefined))).toMatchObject({ content: 'free' })
    expect(asked[0]?.headers.authorization).toBeUndefined()
    expect(asked[0]?.body).toMatchObject({ stream_options: { include_usage: true } })
    for (const wire of [anthropic, google]) {
      await expect(ask(wire.device(url, undefined))).rejects.toMatchObject({
        code: 'EACCES',
        detail: expect.stringContaining('there is no API key; set '),
      })
      await expect(ask(wire.device(url, 'secret', { model: '' }))).rejects.toMatchObject({
        code: 'EINVAL',
        detail: expect.stringContaining('no model is named'),
      })
    }
  })

  it('streams events of another content type, and closes the connection when cancelled', async () => {
    const { promise: closed, resolve: close } = Promise.withResolvers<void>()
    const { url } = await provider((response) => {
      response.on('close', close)
      response.writeHead(200, { 'content-type': 'text/plain' })
      for (const event of openai.text('Hel', 'lo').slice(0, 2)) response.write(event)
    })
    const abort = new AbortController()
    const file = await openai.device(url, 'secret').open('', O_RDWR, {
      ...ctx,
      onText: (text) => text === 'lo' && abort.abort(new Error('SIGKILL')),
    })
    await expect(sendDeviceRequest(file, go, abort.signal)).rejects.toThrow('SIGKILL')
    await closed
  })

  it('names the package to install if one is missing', async () => {
    const missing = () => loadPackage('ai', () => Promise.reject(new Error('Cannot find package')))
    const device = openai.device('http://127.0.0.1:1', undefined, { sdk: { ...installedSdk, ai: missing } })
    await expect(ask(device)).rejects.toMatchObject({
      code: 'ENOTSUP',
      detail: "the package 'ai' is needed: npm install ai",
    })
  })
})
