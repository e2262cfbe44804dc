// The tools of a file system in LangChain, as docs/guide/frameworks.md explains it; a script stands in for the model.
// Run: npx node examples/langchain.ts
import assert from 'node:assert/strict'
import { AIMessage } from '@langchain/core/messages'
import { fakeModel } from '@langchain/core/testing'
import { MemoryFs, readText } from 'coppice'
import { langchainTools } from 'coppice/adapters/langchain'
import { createAgent } from 'langchain'

const model = fakeModel()
  .respondWithTools([{ name: 'write_file', args: { path: 'vfs:///plan.md', content: 'Water the trees.\n' } }])
  .respond(new AIMessage('Planned.'))

const files = new MemoryFs()
const agent = createAgent({ model, tools: await langchainTools(files) })
const { messages } = await agent.invoke({ messages: [{ role: 'user', content: 'Make a plan.' }] })

assert.equal(await readText(files, '/plan.md'), 'Water the trees.\n')
console.log(messages.at(-1)?.content)
