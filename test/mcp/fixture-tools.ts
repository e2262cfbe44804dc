import { setTimeout as delay } from 'node:timers/promises'
import type { CallToolResult, Tool } from '@modelcontextprotocol/server'
import type { McpToolRequest, ToolSource } from '../../src/mcp/index.ts'
import { PIXEL, SILENCE } from './fixture-content.ts'
import { withDefaults, withEnums, withUser } from './fixture-elicitation.ts'

type Content = CallToolResult['content'][number]
type Arguments = Readonly<Record<string, unknown>>

interface FixtureTool {
  readonly tool: Tool
  call(request: McpToolRequest, args: Arguments): Promise<readonly Content[]>
}

const PAUSE_MS = 50

const text = (words: string): Content => ({ type: 'text', text: words })
const image: Content = { type: 'image', data: PIXEL, mimeType: 'image/png' }

function fixture(
  name: string,
  call: (request: McpToolRequest, args: Arguments) => Promise<readonly Content[]>,
  inputSchema: Tool['inputSchema'] = { type: 'object' },
): FixtureTool {
  return { tool: { name, description: `What the conformance suite calls ${name}`, inputSchema }, call }
}

const tools: readonly FixtureTool[] = [
  fixture('test_simple_text', async () => [text('This is a simple text response for testing.')]),
  fixture('test_image_content', async () => [image]),
  fixture('test_audio_content', async () => [{ type: 'audio', data: SILENCE, mimeType: 'audio/wav' }]),
  fixture('test_embedded_resource', async () => [
    {
      type: 'resource',
      resource: {
        uri: 'test://embedded-resource',
        mimeType: 'text/plain',
        text: 'This is an embedded resource content.',
      },
    },
  ]),
  fixture('test_multiple_content_types', async () => [
    text('Multiple content types test:'),
    image,
    {
      type: 'resource',
      resource: {
        uri: 'test://mixed-content-resource',
        mimeType: 'application/json',
        text: '{"test":"data","value":123}',
      },
    },
  ]),
  fixture('test_error_handling', async () => {
    throw new Error('This tool intentionally returns an error for testing')
  }),
  fixture('test_tool_with_logging', async ({ session, extra }) => {
    for (const words of ['Tool execution started', 'Tool processing data', 'Tool execution completed']) {
      await session.log.write('info', words, extra.mcpReq)
      await delay(PAUSE_MS)
    }
    return [text('Logged.')]
  }),
  fixture('test_tool_with_progress', async ({ progress }) => {
    for (const done of [0, 50, 100]) {
      progress(done, 100)
      await delay(PAUSE_MS)
    }
    return [text('Done.')]
  }),
  fixture('test_reconnection', async ({ extra }) => {
    extra.http?.closeSSE?.()
    await delay(PAUSE_MS)
    return [text('Reconnected.')]
  }),
  fixture(
    'test_sampling',
    async ({ session, extra }, { prompt }) => {
      const content = { type: 'text' as const, text: String(prompt) }
      const answer = await session.server.createMessage(
        { messages: [{ role: 'user', content }], maxTokens: 100 },
        { relatedRequestId: extra.mcpReq.id },
      )
      return [text(`LLM response: ${JSON.stringify(answer.content)}`)]
    },
    { type: 'object', properties: { prompt: { type: 'string' } }, required: ['prompt'] },
  ),
  fixture(
    'test_elicitation',
    async (request, { message }) => [text(`User response: ${await withUser(request, String(message))}`)],
    { type: 'object', properties: { message: { type: 'string' } }, required: ['message'] },
  ),
  fixture('test_elicitation_sep1034_defaults', async (request) => [
    text(`Elicitation completed: ${await withDefaults(request)}`),
  ]),
  fixture('test_elicitation_sep1330_enums', async (request) => [
    text(`Elicitation completed: ${await withEnums(request)}`),
  ]),
  fixture('json_schema_2020_12_tool', async () => [text('Done.')], {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    $defs: {
      address: { type: 'object', properties: { street: { type: 'string' }, city: { type: 'string' } } },
    },
    properties: { name: { type: 'string' }, address: { $ref: '#/$defs/address' } },
    additionalProperties: false,
  }),
]

/** The tools of the conformance suite. */
export const fixtureTools: ToolSource = {
  list: () => tools.map(({ tool }) => tool),
  async call(name, args, request) {
    const found = tools.find(({ tool }) => tool.name === name)
    try {
      return { content: [...((await found?.call(request, args)) ?? [])] }
    } catch (error) {
      return { content: [text(error instanceof Error ? error.message : String(error))], isError: true }
    }
  },
}
