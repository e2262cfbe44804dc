import { generateText, stepCountIs, streamText } from 'ai'
import { MemoryFs, readText } from 'coppice'
import { aiSdkTools } from 'coppice/adapters/ai-sdk'
import { createToolRegistry } from 'coppice/tools'
import { describe, expect, it } from 'vitest'
import { PIXEL } from './pixel.ts'
import { scriptedModel } from './scripted-model.ts'

const stopWhen = stepCountIs(5)

describe('aiSdkTools', () => {
  it('lets a model of the AI SDK read, edit and finish', async () => {
    const files = new MemoryFs({ '/src/main.ts': 'const port = 8080\n' })
    const model = scriptedModel([
      [{ tool: 'file_grep', args: { path: 'vfs:///src', pattern: 'port' } }],
      [
        {
          tool: 'file_edit',
          args: { path: 'vfs:///src/main.ts', operation: 'replace_string', find: '8080', replace: '9090' },
        },
      ],
      'The port is 9090.',
    ])
    const { text, steps } = await generateText({
      model,
      tools: aiSdkTools(files),
      stopWhen,
      prompt: 'Change it.',
    })
    expect(text).toBe('The port is 9090.')
    expect(steps[0]?.toolResults[0]?.output).toMatchObject({ isError: false })
    expect(await readText(files, '/src/main.ts')).toBe('const port = 9090\n')
    const result = model.doGenerateCalls[1]?.prompt.at(-1)
    expect(result?.content[0]).toMatchObject({
      output: { type: 'text', value: expect.stringContaining('const port = 8080') },
    })
  })

  it('streams, and handles parallel calls', async () => {
    const files = new MemoryFs()
    const write = (name: string) => ({
      tool: 'write_file',
      args: { path: `vfs:///${name}`, content: name },
    })
    const model = scriptedModel([[write('a'), write('b')], 'Done.'])
    const result = streamText({ model, tools: aiSdkTools(files), stopWhen, prompt: 'Write.' })
    expect(await result.text).toBe('Done.')
    expect(await readText(files, '/a')).toBe('a')
    expect(await readText(files, '/b')).toBe('b')
  })

  it('reports an invalid call to the model, and continues', async () => {
    const model = scriptedModel([[{ tool: 'file_read', args: { file_path: 'vfs:///a' } }], 'I see.'])
    const tools = aiSdkTools(new MemoryFs())
    await generateText({ model, tools, stopWhen, prompt: 'Read.' })
    expect(model.doGenerateCalls[1]?.prompt.at(-1)?.content[0]).toMatchObject({
      output: { type: 'error-text', value: expect.stringContaining("it is called 'path' here") },
    })
  })

  it('shows the model an image', async () => {
    const model = scriptedModel([[{ tool: 'file_read', args: { path: 'vfs:///logo.png' } }], 'I see.'])
    const tools = aiSdkTools(new MemoryFs({ '/logo.png': Buffer.from(PIXEL, 'base64') }))
    await generateText({ model, tools, stopWhen, prompt: 'Look.' })
    expect(model.doGenerateCalls[1]?.prompt.at(-1)?.content[0]).toMatchObject({
      output: {
        type: 'content',
        value: [
          { type: 'text', text: '(image/png, 70 bytes)' },
          { type: 'image-data', data: PIXEL, mediaType: 'image/png' },
        ],
      },
    })
  })

  it('offers the schema of each tool unchanged', async () => {
    const files = new MemoryFs()
    const model = scriptedModel(['Nothing to do.'])
    await generateText({ model, tools: aiSdkTools(files), prompt: 'Look.' })
    const offered = model.doGenerateCalls[0]?.tools?.map((tool) =>
      tool.type === 'function' ? [tool.name, tool.inputSchema] : [],
    )
    const given = createToolRegistry(files).tools.map(({ name, inputSchema: { $schema: _, ...schema } }) => [
      name,
      { ...schema, $schema: 'http://json-schema.org/draft-07/schema#' },
    ])
    expect(offered).toEqual(given)
  })

  it('accepts a registry, or a selection of tools', () => {
    const registry = createToolRegistry(new MemoryFs(), { tools: ['file_read'] })
    expect(Object.keys(aiSdkTools(registry))).toEqual(['file_read'])
    expect(Object.keys(aiSdkTools(new MemoryFs(), { tools: ['vfs_list'] }))).toEqual(['vfs_list'])
  })

  it('stops with the signal of the generation', async () => {
    const tools = aiSdkTools(new MemoryFs({ '/a': 'text' }))
    const abortSignal = AbortSignal.abort(new Error('stopped'))
    const call = tools['file_read']?.execute(
      { path: 'vfs:///a' },
      { toolCallId: '1', messages: [], abortSignal },
    )
    await expect(call).rejects.toThrow('stopped')
  })
})
