import type { ElicitRequestFormParams } from '@modelcontextprotocol/server'
import type { McpToolRequest } from '../../src/mcp/index.ts'

type Properties = ElicitRequestFormParams['requestedSchema']['properties']

/** Asks for two plain texts. */
export function withUser(request: McpToolRequest, message: string): Promise<string> {
  return elicited(request, message, {
    username: { type: 'string', description: "User's response" },
    email: { type: 'string', description: "User's email address" },
  })
}

/** Asks with a default for each primitive type. */
export function withDefaults(request: McpToolRequest): Promise<string> {
  return elicited(request, 'Please review the defaults', {
    name: { type: 'string', default: 'John Doe' },
    age: { type: 'integer', default: 30 },
    score: { type: 'number', default: 95.5 },
    status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
    verified: { type: 'boolean', default: true },
  })
}

/** Asks with each way to write a choice. */
export function withEnums(request: McpToolRequest): Promise<string> {
  const options = ['option1', 'option2', 'option3']
  const titled = [
    { const: 'value1', title: 'First' },
    { const: 'value2', title: 'Second' },
    { const: 'value3', title: 'Third' },
  ]
  return elicited(request, 'Please choose', {
    untitledSingle: { type: 'string', enum: options },
    titledSingle: { type: 'string', oneOf: titled },
    legacyEnum: {
      type: 'string',
      enum: ['opt1', 'opt2', 'opt3'],
      enumNames: ['Option One', 'Option Two', 'Option Three'],
    },
    untitledMulti: { type: 'array', items: { type: 'string', enum: options } },
    titledMulti: { type: 'array', items: { anyOf: titled } },
  })
}

async function elicited(
  { session, extra }: McpToolRequest,
  message: string,
  properties: Properties,
): Promise<string> {
  const { action, content } = await session.server.elicitInput(
    {
      message,
      requestedSchema: { type: 'object', properties, required: Object.keys(properties).slice(0, 2) },
    },
    { relatedRequestId: extra.mcpReq.id },
  )
  return `action=${action}, content=${JSON.stringify(content)}`
}
