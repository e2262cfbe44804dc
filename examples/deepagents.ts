// A vault as the files of a deep agent, as docs/guide/frameworks.md explains it; a script stands in for the model.
// Run: npx node examples/deepagents.ts
import assert from 'node:assert/strict'
import { AIMessage } from '@langchain/core/messages'
import { fakeModel } from '@langchain/core/testing'
import { openHome, readText } from 'coppice'
import { deepAgentsBackend } from 'coppice/adapters/deepagents'
import { createDeepAgent } from 'deepagents'

const model = fakeModel()
  .respondWithTools([{ name: 'write_file', args: { file_path: '/plan.md', content: 'Water the trees.\n' } }])
  .respond(new AIMessage('Planned.'))

const home = await openHome()
const vault = await home.createVault('garden')
const agent = createDeepAgent({ model, backend: deepAgentsBackend(vault) })
const { messages } = await agent.invoke({ messages: [{ role: 'user', content: 'Make a plan.' }] })

assert.equal(await readText(vault, '/plan.md'), 'Water the trees.\n')
console.log(messages.at(-1)?.content)
await home.close()
