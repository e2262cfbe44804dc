import { AIMessage, ToolMessage } from '@langchain/core/messages'
import { fakeModel } from '@langchain/core/testing'
import { convertToOpenAITool } from '@langchain/core/utils/function_calling'
import { MemoryFs, readText } from 'coppice'
import { langchainTools } from 'coppice/adapters/langchain'
import { createToolRegistry } from 'coppice/tools'
import { createAgent } from 'langchain'
import { describe, expect, it } from 'vitest'
import { PIXEL } from './pixel.ts'

describe('langchainTools', () => {
  it('lets a LangChain agent read, edit and finish', async () => {
    const files = new MemoryFs({ '/src/main.ts': 'const port = 8080\n' })
    const edit = {
      path: 'vfs:///src/main.ts',
      operation: 'replace_string',
      find: '8080',
      replace: '9090',
    }
    const model = fakeModel()
      .respondWithTools([{ name: 'file_read', args: { path: 'vfs:///src/main.ts' }, id: '1' }])
      .respondWithTools([{ name: 'file_edit', args: edit, id: '2' }])
      .respond(new AIMessage('The port is 9090.'))
    const agent = createAgent({ model, tools: await langchainTools(files) })
    const { messages } = await agent.invoke({ messages: [{ role: 'user', content: 'Change it.' }] })
    expect(messages.at(-1)?.content).toBe('The port is 9090.')
    expect(await readText(files, '/src/main.ts')).toBe('const port = 9090\n')
    const results = messages.filter(ToolMessage.isInstance)
    expect(results.map(({ status, name }) => [status, name])).toEqual([
      ['success', 'file_read'],
      ['success', 'file_edit'],
    ])
    expect(results[0]?.content).toContain('const port = 8080')
  })

  it('reports an invalid call to the model, with the whole result as artifact', async () => {
    const model = fakeModel()
      .respondWithTools([{ name: 'file_read', args: { file_path: 'vfs:///a' }, id: '1' }])
      .respond(new AIMessage('I see.'))
    const agent = createAgent({ model, tools: await langchainTools(new MemoryFs()) })
    const { messages } = await agent.invoke({ messages: [{ role: 'user', content: 'Read.' }] })
    const result = messages.find(ToolMessage.isInstance)
    expect(result?.status).toBe('error')
    expect(result?.content).toContain("it is called 'path' here")
    expect(result?.artifact).toMatchObject({ isError: true, error: { code: 'EINVAL' } })
  })

  it('shows the model an image', async () => {
    const model = fakeModel()
      .respondWithTools([{ name: 'file_read', args: { path: 'vfs:///logo.png' }, id: '1' }])
      .respond(new AIMessage('I see.'))
    const files = new MemoryFs({ '/logo.png': Buffer.from(PIXEL, 'base64') })
    const agent = createAgent({ model, tools: await langchainTools(files) })
    const { messages } = await agent.invoke({ messages: [{ role: 'user', content: 'Look.' }] })
    expect(messages.find(ToolMessage.isInstance)?.content).toEqual([
      { type: 'text', text: '(image/png, 70 bytes)' },
      { type: 'image_url', image_url: { url: `data:image/png;base64,${PIXEL}` } },
    ])
  })

  it('offers the schema of each tool unchanged', async () => {
    const files = new MemoryFs()
    const offered = (await langchainTools(files)).map((tool) => convertToOpenAITool(tool).function.parameters)
    expect(offered).toEqual(createToolRegistry(files).tools.map(({ inputSchema }) => inputSchema))
  })

  it('returns the text to a program, and stops with its signal', async () => {
    const [read] = await langchainTools(new MemoryFs({ '/a': 'text\n' }), { tools: ['file_head'] })
    expect(await read?.invoke({ path: 'vfs:///a' })).toBe('text')
    const signal = AbortSignal.abort(new Error('stopped'))
    await expect(read?.invoke({ path: 'vfs:///a' }, { signal })).rejects.toThrow('stopped')
  })
})
