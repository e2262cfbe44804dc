import { MemoryFs, readText } from 'coppice'
import { openaiTools } from 'coppice/adapters/openai'
import { createToolRegistry } from 'coppice/tools'
import OpenAI from 'openai'
import type { ChatCompletionMessageParam } from 'openai/resources/chat/completions'
import type { ResponseInputItem } from 'openai/resources/responses/responses'
import { describe, expect, it } from 'vitest'
import { PIXEL } from './pixel.ts'
import { type Reply, scriptedServer } from './scripted-server.ts'

const edit = JSON.stringify({
  path: 'vfs:///main.ts',
  operation: 'replace_string',
  find: '8080',
  replace: '9090',
  start: null,
  end: null,
  content: null,
  all: null,
})
const edited = { id: 'call_1', type: 'function', function: { name: 'file_edit', arguments: edit } } as const

describe('openaiTools', () => {
  it('answers the calls of chat.completions', async () => {
    await using server = await scriptedServer([
      completion({ role: 'assistant', content: null, tool_calls: [edited] }, 'tool_calls'),
      completion({ role: 'assistant', content: 'Done.' }, 'stop'),
    ])
    const files = new MemoryFs({ '/main.ts': 'const port = 8080\n' })
    const tools = openaiTools(files)
    const messages: ChatCompletionMessageParam[] = [{ role: 'user', content: 'Change it.' }]
    const ask = () => client(server.url).chat.completions.create({ model: 'm', messages, tools: tools.chat })

    const asked = (await ask()).choices[0]?.message
    if (asked === undefined) throw new Error('no answer')
    messages.push(asked)
    for (const call of asked.tool_calls ?? []) {
      if (call.type === 'function') messages.push(await tools.runToolCall(call))
    }
    expect((await ask()).choices[0]?.message.content).toBe('Done.')
    expect(await readText(files, '/main.ts')).toBe('const port = 9090\n')
    expect(server.requests[0]).toMatchObject({ tools: tools.chat })
    expect(server.requests[1]).toMatchObject({
      messages: [
        { role: 'user' },
        { role: 'assistant' },
        { role: 'tool', tool_call_id: 'call_1', content: expect.stringContaining('9090') },
      ],
    })
  })

  it('shows the model an image through responses, and describes it through chat.completions', async () => {
    const tools = openaiTools(new MemoryFs({ '/logo.png': Buffer.from(PIXEL, 'base64') }))
    const read = { name: 'file_read', arguments: JSON.stringify({ path: 'vfs:///logo.png' }) }
    const item: ResponseInputItem = await tools.runToolCall({ type: 'function_call', call_id: '1', ...read })
    expect(item).toEqual({
      type: 'function_call_output',
      call_id: '1',
      output: [
        { type: 'input_text', text: '(image/png, 70 bytes)' },
        { type: 'input_image', image_url: `data:image/png;base64,${PIXEL}`, detail: 'auto' },
      ],
    })
    const message: ChatCompletionMessageParam = await tools.runToolCall({ id: '2', function: read })
    expect(message.content).toBe('(image/png, 70 bytes)')
  })

  it('handles calls that arrive in parts', async () => {
    const part = (delta: unknown, finish_reason: string | null = null) => ({
      data: {
        id: 'c',
        object: 'chat.completion.chunk',
        created: 0,
        model: 'm',
        choices: [{ index: 0, delta, finish_reason }],
      },
    })
    const [begin, end] = [edit.slice(0, 20), edit.slice(20)]
    await using server = await scriptedServer([
      {
        events: [
          part({
            role: 'assistant',
            tool_calls: [{ index: 0, ...edited, function: { name: 'file_edit', arguments: begin } }],
          }),
          part({ tool_calls: [{ index: 0, function: { arguments: end } }] }),
          part({}, 'tool_calls'),
          { data: '[DONE]' },
        ],
      },
    ])
    const files = new MemoryFs({ '/main.ts': 'const port = 8080\n' })
    const tools = openaiTools(files)
    const stream = client(server.url).chat.completions.stream({
      model: 'm',
      messages: [{ role: 'user', content: 'Change it.' }],
      tools: tools.chat,
    })
    const { tool_calls: calls = [] } = await stream.finalMessage()
    expect(calls).toHaveLength(1)
    for (const call of calls) if (call.type === 'function') await tools.runToolCall(call)
    expect(await readText(files, '/main.ts')).toBe('const port = 9090\n')
  })

  it('answers the calls of responses', async () => {
    const call = { type: 'function_call', id: 'fc_1', call_id: 'call_1', name: 'file_edit', arguments: edit }
    const said = { type: 'output_text', text: 'Done.', annotations: [] }
    await using server = await scriptedServer([
      response([call]),
      response([{ type: 'message', id: 'm', role: 'assistant', status: 'completed', content: [said] }]),
    ])
    const files = new MemoryFs({ '/main.ts': 'const port = 8080\n' })
    const tools = openaiTools(files)
    const input: ResponseInputItem[] = [{ role: 'user', content: 'Change it.' }]
    const ask = () => client(server.url).responses.create({ model: 'm', input, tools: tools.responses })

    for (const item of (await ask()).output) {
      if (item.type === 'function_call') input.push(item, await tools.runToolCall(item))
    }
    expect((await ask()).output_text).toBe('Done.')
    expect(await readText(files, '/main.ts')).toBe('const port = 9090\n')
    expect(server.requests[1]).toMatchObject({
      input: [{}, { call_id: 'call_1' }, { type: 'function_call_output', call_id: 'call_1' }],
      tools: tools.responses,
    })
  })
})

describe('an invalid call', () => {
  const tools = openaiTools(new MemoryFs({ '/a': 'text' }))
  const answer = async (name: string, args: string) =>
    (await tools.runToolCall({ id: '1', function: { name, arguments: args } })).content

  it('is explained to the model', async () => {
    expect(await answer('file_read', '{"path": ')).toMatch(/^EINVAL: file_read: the arguments are not JSON/)
    expect(await answer('file_read', '[]')).toContain('must be a JSON object')
    expect(await answer('file_read', '')).toContain("'path' is missing")
    expect(await answer('file_read', '{"file_path":"vfs:///a"}')).toContain("it is called 'path' here")
    // Some servers send arguments as an object, or omit empty ones.
    const loose = (args: unknown): string => args as string
    expect(await answer('file_read', loose(undefined))).toContain("'path' is missing")
    expect(await answer('file_read', loose({ path: 'vfs:///a' }))).toContain('text')
    expect(await answer('nothing', '{}')).toContain("there is no tool 'nothing'")
  })

  it('stops with its signal', async () => {
    const call = { id: '1', function: { name: 'file_read', arguments: '{"path":"vfs:///a"}' } }
    const signal = AbortSignal.abort(new Error('stopped'))
    await expect(tools.runToolCall(call, { signal })).rejects.toThrow('stopped')
  })
})

describe('strict schemas', () => {
  it('require every argument, and accept null for optional ones', () => {
    const { responses } = openaiTools(new MemoryFs(), { tools: ['file_head'] })
    expect(responses[0]).toEqual({
      type: 'function',
      name: 'file_head',
      description: expect.any(String),
      strict: true,
      parameters: {
        type: 'object',
        properties: {
          path: { type: 'string', description: expect.any(String) },
          lines: { type: ['integer', 'null'], description: 'Number of lines. Null: 50.' },
        },
        required: ['path', 'lines'],
        additionalProperties: false,
      },
    })
  })

  it('exist for every file tool', () => {
    expect(openaiTools(new MemoryFs()).responses.filter(({ strict }) => !strict)).toEqual([])
  })

  it.each([
    ['a map', { type: 'object' }],
    ['a choice of types', { anyOf: [{ type: 'string' }, { type: 'number' }] }],
    ['a list of maps', { type: 'array', items: { type: 'object' } }],
    ['a keyword it may not know', { type: 'string', contentEncoding: 'base64' }],
  ])('do not exist for %s', (_what, property) => {
    const registry = createToolRegistry(new MemoryFs(), { tools: ['file_head'] })
    const tools = registry.tools.map((info) => ({
      ...info,
      inputSchema: { ...info.inputSchema, properties: { property }, required: ['property'] },
    }))
    const odd = openaiTools({ tools, call: registry.call.bind(registry) })
    expect(odd.chat[0]?.function).toMatchObject({ strict: false, parameters: tools[0]?.inputSchema })
  })
})

function client(baseURL: string): OpenAI {
  return new OpenAI({ baseURL, apiKey: 'none', maxRetries: 0 })
}

function completion(message: unknown, finish_reason: string): Reply {
  const choices = [{ index: 0, message, finish_reason, logprobs: null }]
  return { json: { id: 'c', object: 'chat.completion', created: 0, model: 'm', choices } }
}

function response(output: readonly unknown[]): Reply {
  return { json: { id: 'r', object: 'response', created_at: 0, model: 'm', status: 'completed', output } }
}
