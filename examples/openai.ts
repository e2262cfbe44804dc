// The tools of a file system for OpenAI's interfaces, as docs/guide/frameworks.md explains it; a script stands in for
// the server. Run: npx node examples/openai.ts
import assert from 'node:assert/strict'
import { MemoryFs, readText } from 'coppice'
import { openaiTools } from 'coppice/adapters/openai'
import OpenAI from 'openai'
import type { ChatCompletionMessageParam } from 'openai/resources/chat/completions'

const call = { name: 'write_file', arguments: '{"path":"vfs:///plan.md","content":"Water the trees.\\n"}' }
const script = [
  { role: 'assistant', content: null, tool_calls: [{ id: '1', type: 'function', function: call }] },
  { role: 'assistant', content: 'Planned.' },
]
const client = new OpenAI({
  apiKey: 'none',
  fetch: async () => Response.json({ choices: [{ index: 0, message: script.shift() }] }),
})

const files = new MemoryFs()
const tools = openaiTools(files)
const messages: ChatCompletionMessageParam[] = [{ role: 'user', content: 'Make a plan.' }]
for (;;) {
  const { choices } = await client.chat.completions.create({ model: 'gpt', messages, tools: tools.chat })
  const message = choices[0]?.message
  if (message?.tool_calls === undefined) break
  messages.push(message)
  for (const call of message.tool_calls) {
    if (call.type === 'function') messages.push(await tools.runToolCall(call))
  }
}

assert.equal(await readText(files, '/plan.md'), 'Water the trees.\n')
console.log(messages.at(-1)?.content)
