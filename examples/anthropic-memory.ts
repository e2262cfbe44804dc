// Anthropic's memory tool on a directory of a vault, as docs/guide/frameworks.md explains it; a script stands in for
// the server. Run: npx node examples/anthropic-memory.ts
import assert from 'node:assert/strict'
import Anthropic from '@anthropic-ai/sdk'
import { betaMemoryTool } from '@anthropic-ai/sdk/helpers/beta/memory'
import { openHome, readText } from 'coppice'
import { memoryHandlers } from 'coppice/adapters/anthropic-memory'

const input = { command: 'create', path: '/memories/trees.md', file_text: 'Watered on Monday.\n' }
const message = (stop_reason: string, ...content: object[]) => ({
  type: 'message',
  role: 'assistant',
  content,
  stop_reason,
  usage: { input_tokens: 1, output_tokens: 1 },
})
const script = [
  message('tool_use', { type: 'tool_use', id: '1', name: 'memory', input }),
  message('end_turn', { type: 'text', text: 'Noted.' }),
]
const client = new Anthropic({ apiKey: 'none', fetch: async () => Response.json(script.shift()) })

const home = await openHome()
const vault = await home.createVault('garden')
const memory = betaMemoryTool(memoryHandlers(vault, { directory: '/home/anna/memories' }))
const last = await client.beta.messages.toolRunner({
  model: 'claude',
  max_tokens: 1000,
  messages: [{ role: 'user', content: 'I watered the trees.' }],
  tools: [memory],
})

assert.equal(await readText(vault, '/home/anna/memories/trees.md'), 'Watered on Monday.\n')
console.log(last.content)
await home.close()
