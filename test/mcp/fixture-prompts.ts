import {
  type GetPromptResult,
  type Prompt,
  ProtocolError,
  ProtocolErrorCode,
} from '@modelcontextprotocol/server'
import type { McpFeature } from '../../src/mcp/index.ts'
import { PIXEL } from './fixture-content.ts'

type Messages = GetPromptResult['messages']
type Arguments = Readonly<Record<string, string>>

interface FixturePrompt {
  readonly prompt: Prompt
  messages(args: Arguments): Messages
}

const user = (content: Messages[number]['content']): Messages[number] => ({ role: 'user', content })
const text = (words: string): Messages[number] => user({ type: 'text', text: words })

const prompts: readonly FixturePrompt[] = [
  {
    prompt: { name: 'test_simple_prompt', description: 'A prompt without arguments' },
    messages: () => [text('This is a simple prompt for testing.')],
  },
  {
    prompt: {
      name: 'test_prompt_with_arguments',
      description: 'A prompt with two arguments',
      arguments: [
        { name: 'arg1', description: 'First test argument', required: true },
        { name: 'arg2', description: 'Second test argument', required: true },
      ],
    },
    messages: ({ arg1, arg2 }) => [text(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`)],
  },
  {
    prompt: {
      name: 'test_prompt_with_embedded_resource',
      description: 'A prompt with a resource in it',
      arguments: [{ name: 'resourceUri', description: 'The resource to embed', required: true }],
    },
    messages: ({ resourceUri: uri = '' }) => [
      user({
        type: 'resource',
        resource: { uri, mimeType: 'text/plain', text: 'Embedded resource content for testing.' },
      }),
      text('Please process the embedded resource above.'),
    ],
  },
  {
    prompt: { name: 'test_prompt_with_image', description: 'A prompt with a picture in it' },
    messages: () => [
      user({ type: 'image', data: PIXEL, mimeType: 'image/png' }),
      text('Please analyze the image above.'),
    ],
  },
]

/** The prompts of the conformance suite: a part that only this server has. */
export const fixturePrompts: McpFeature = {
  capabilities: { prompts: {} },
  attach({ server }) {
    server.setRequestHandler('prompts/list', () => ({
      prompts: prompts.map(({ prompt }) => prompt),
    }))
    server.setRequestHandler('prompts/get', ({ params }) => {
      const found = prompts.find(({ prompt }) => prompt.name === params.name)
      if (found === undefined)
        throw new ProtocolError(ProtocolErrorCode.InvalidParams, `there is no prompt ${params.name}`)
      return { messages: found.messages(params.arguments ?? {}) }
    })
  },
}
