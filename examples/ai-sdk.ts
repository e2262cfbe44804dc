// The tools of a file system in the AI SDK, as docs/guide/frameworks.md explains it; a script stands in for the model.
// Run: npx node examples/ai-sdk.ts
import assert from 'node:assert/strict'
import { generateText, stepCountIs } from 'ai'
import { MockLanguageModelV3 } from 'ai/test'
import { MemoryFs, readText } from 'coppice'
import { aiSdkTools } from 'coppice/adapters/ai-sdk'

const input = JSON.stringify({ path: 'vfs:///plan.md', content: 'Water the trees.\n' })
const rest = {
  usage: {
    inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: 1, text: 1, reasoning: 0 },
  },
  warnings: [],
}
const model = new MockLanguageModelV3({
  doGenerate: [
    {
      content: [{ type: 'tool-call', toolCallId: '1', toolName: 'write_file', input }],
      finishReason: { unified: 'tool-calls', raw: undefined },
      ...rest,
    },
    {
      content: [{ type: 'text', text: 'Planned.' }],
      finishReason: { unified: 'stop', raw: undefined },
      ...rest,
    },
  ],
})

const files = new MemoryFs()
const { text } = await generateText({
  model,
  tools: aiSdkTools(files),
  stopWhen: stepCountIs(10),
  prompt: 'Make a plan.',
})
assert.equal(await readText(files, '/plan.md'), 'Water the trees.\n')
console.log(text)
