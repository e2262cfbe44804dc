import { aiSdkTools } from 'coppice/adapters/ai-sdk'
import { langchainTools } from 'coppice/adapters/langchain'
import { openaiTools } from 'coppice/adapters/openai'
import { openHome } from 'coppice/store'
import { expect, it } from 'vitest'

it('records the caller, the framework and the call of each change in the journal', async () => {
  await using home = await openHome()
  const vault = await home.createVault('notes')
  const options = { context: 'anna', tools: ['write_file'] }
  const args = (name: string) => ({ path: `vfs:///${name}`, content: `${name}\n` })

  const messages: [] = []
  await aiSdkTools(vault, options)['write_file']?.execute(args('ai'), { toolCallId: 'a1', messages })
  const [write] = await langchainTools(vault, options)
  await write?.invoke({ type: 'tool_call', id: 'l1\n', name: 'write_file', args: args('langchain') })
  const call = { name: 'write_file', arguments: JSON.stringify(args('openai')) }
  await openaiTools(vault, options).runToolCall({ id: 'o'.repeat(100), function: call })

  const anna = { kind: 'context', context: 'anna' }
  expect(await vault.blame('/ai')).toMatchObject([{ caller: anna, trace: 'ai/a1' }])
  expect(await vault.blame('/langchain')).toMatchObject([{ caller: anna, trace: 'langchain/l1%0A' }])
  expect(await vault.blame('/openai')).toMatchObject([{ caller: anna, trace: `openai/${'o'.repeat(60)}…` }])
})
