import Anthropic from '@anthropic-ai/sdk'
import { betaMemoryTool } from '@anthropic-ai/sdk/helpers/beta/memory'
import { MemoryFs, readText } from 'coppice'
import { memoryHandlers } from 'coppice/adapters/anthropic-memory'
import { openHome } from 'coppice/store'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Reply, scriptedServer } from './scripted-server.ts'

describe('the memory tool on a directory of a vault', () => {
  it("performs the calls of the SDK's tool runner", async () => {
    await using home = await openHome()
    const vault = await home.createVault('agent')
    const create = { command: 'create', path: '/memories/facts.md', file_text: 'Trees: 3\n' }
    const replace = { command: 'str_replace', path: '/memories/facts.md', old_str: '3', new_str: '4' }
    await using server = await scriptedServer([
      toolUse({ command: 'view', path: '/memories' }),
      toolUse(create),
      toolUse(create, replace),
      message([{ type: 'text', text: 'I know.' }], 'end_turn'),
    ])
    const client = new Anthropic({ baseURL: server.url, apiKey: 'none', maxRetries: 0 })
    const last = await client.beta.messages.toolRunner({
      model: 'm',
      max_tokens: 100,
      messages: [{ role: 'user', content: 'Remember.' }],
      tools: [betaMemoryTool(memoryHandlers(vault, { directory: '/home/anna/memories' }))],
    })
    expect(last.content[0]).toMatchObject({ text: 'I know.' })
    expect(await readText(vault, '/home/anna/memories/facts.md')).toBe('Trees: 4\n')
    expect(server.requests[0]).toMatchObject({ tools: [{ type: 'memory_20250818', name: 'memory' }] })
    // The runner sends only what is new in each turn: the results.
    expect(server.requests[2]).toMatchObject({
      messages: [{ content: [{ content: 'File created successfully at: /memories/facts.md' }] }],
    })
    expect(server.requests[3]).toMatchObject({
      messages: [
        {
          content: [
            { is_error: true, content: 'Error: File /memories/facts.md already exists' },
            { content: expect.stringMatching(/^The memory file has been edited\..*\n {5}1\tTrees: 4\n/) },
          ],
        },
      ],
    })
  })

  it('loses no edit of parallel calls', async () => {
    const fs = new MemoryFs({ '/memories/list': 'a\nb\nc\n' })
    const { str_replace } = memoryHandlers(fs)
    const edits = ['a', 'b', 'c'].map((name) =>
      str_replace({
        command: 'str_replace',
        path: '/memories/list',
        old_str: name,
        new_str: name.toUpperCase(),
      }),
    )
    await Promise.all(edits)
    expect(await readText(fs, '/memories/list')).toBe('A\nB\nC\n')
  })

  it('shows an empty directory at first', async () => {
    const shown = await memoryHandlers(new MemoryFs()).view({ command: 'view', path: '/memories' })
    expect(shown.split('\n').at(-1)).toBe('0B\t/memories')
  })

  it('shows the sizes of entries, two levels deep', async () => {
    const fs = new MemoryFs({
      '/memories/a/b/c/deep.txt': 'x'.repeat(1000),
      '/memories/a/b/near.txt': 'x'.repeat(536),
      '/memories/a/.hidden': 'x'.repeat(5000),
      '/memories/node_modules/x.js': 'x',
      '/memories/z.txt': 'x',
    })
    const shown = await memoryHandlers(fs).view({ command: 'view', path: '/memories' })
    expect(shown.split('\n').slice(1)).toEqual([
      '1.5K\t/memories',
      '1.5K\t/memories/a/',
      '1.5K\t/memories/a/b/',
      '1B\t/memories/z.txt',
    ])
  })

  it('finds a text of several lines, and reports each of its lines', async () => {
    const fs = new MemoryFs({ '/memories/f': 'a\nb\nc\na\nb\n' })
    const { str_replace } = memoryHandlers(fs)
    const replace = (old_str: string) =>
      str_replace({ command: 'str_replace', path: '/memories/f', old_str, new_str: 'x\ny' })
    await expect(replace('a\nb')).rejects.toThrow('in lines: 1, 4. Please')
    expect(await replace('b\nc')).toBe(
      'The memory file has been edited. Here is the snippet showing the change (with line numbers):\n' +
        '     1\ta\n     2\tx\n     3\ty\n     4\ta\n     5\tb',
    )
  })
})

describe('a path of the memory tool', () => {
  it.each([
    ['/memories/../secret', 'would escape /memories directory'],
    ['/memories/a/../../secret', 'would escape /memories directory'],
    ['/memories/%2e%2e/secret', 'would escape /memories directory'],
    ['/memories/%252e%252e%252fsecret', 'would escape /memories directory'],
    ['/memories/%2e%2e/secret%zz', 'would escape /memories directory'],
    ['/memories/%25%32%65%2e/secret', 'would escape /memories directory'],
    ['/memories/..\\secret', 'would escape /memories directory'],
    ['/memoriesx', 'Path must start with /memories, got: /memoriesx'],
    ['/secret', 'Path must start with /memories, got: /secret'],
    ['memories/a', 'Path must start with /memories'],
    ['/memories/\0', 'has a NUL byte'],
  ])('%j is refused: %s', async (path, reason) => {
    const handlers = memoryHandlers(new MemoryFs({ '/secret': 'x', '/memories/a/b': '' }))
    await expect(handlers.view({ command: 'view', path })).rejects.toThrow(reason)
    await expect(handlers.delete({ command: 'delete', path })).rejects.toThrow(reason)
    const rename = handlers.rename({ command: 'rename', old_path: '/memories/a/b', new_path: path })
    await expect(rename).rejects.toThrow(reason)
  })

  it('never names anything outside of the directory', async () => {
    const part = fc.constantFrom('/memories', '/', '..', '.', '%2e', '%2F', '\\', 'a', '//', '/memories/')
    await fc.assert(
      fc.asyncProperty(fc.array(part, { maxLength: 6 }), async (parts) => {
        const fs = new MemoryFs({ '/outside/kept': 'x', '/store/a': 'y' })
        const handlers = memoryHandlers(fs, { directory: '/store' })
        const path = parts.join('')
        await handlers.create({ command: 'create', path, file_text: 'z' }).catch(() => {})
        await handlers.delete({ command: 'delete', path }).catch(() => {})
        const top = await Array.fromAsync(fs.readdir('/'), ({ name }) => name)
        expect(top).toEqual(['outside', 'store'])
        expect(await readText(fs, '/outside/kept')).toBe('x')
      }),
    )
  })

  it('follows no link, as its last name or above it', async () => {
    const fs = new MemoryFs({ '/secret/key': 'x', '/memories/a': '' })
    await fs.symlink('/secret', '/memories/door')
    const handlers = memoryHandlers(fs)
    const refusal = 'Path would escape /memories directory via symlink'
    for (const path of ['/memories/door', '/memories/door/key']) {
      await expect(handlers.view({ command: 'view', path })).rejects.toThrow(refusal)
      await expect(handlers.create({ command: 'create', path, file_text: '' })).rejects.toThrow(refusal)
      await expect(handlers.delete({ command: 'delete', path })).rejects.toThrow(refusal)
    }
    expect(await handlers.view({ command: 'view', path: '/memories' })).not.toContain('door')
    expect(await readText(fs, '/secret/key')).toBe('x')
  })

  it('follows no link that is created after the check', async () => {
    const fs = new SwappedFs({ '/secret/key': 'x', '/memories/a/key': 'y' })
    const refusal = 'Path would escape /memories directory via symlink'
    const create = { command: 'create', path: '/memories/a/new', file_text: '' } as const
    await expect(memoryHandlers(fs).create(create)).rejects.toThrow(refusal)
    expect(await fs.exists('/secret/new')).toBe(false)
  })

  it('may lead to a directory behind a link', async () => {
    const fs = new MemoryFs({ '/real/a': 'kept\n' })
    await fs.symlink('/real', '/shortcut')
    const { view } = memoryHandlers(fs, { directory: '/shortcut' })
    expect(await view({ command: 'view', path: '/memories/a' })).toContain('     1\tkept')
  })
})

describe('a command of the memory tool', () => {
  it('is refused if it is longer than any path, before it is parsed', async () => {
    const path = `/memories/%${'25'.repeat(500_000)}2e`
    const viewing = memoryHandlers(new MemoryFs()).view({ command: 'view', path })
    await expect(viewing).rejects.toThrow('Path is longer than 4096 characters')
  })

  it('leaves nothing behind after a rename into itself', async () => {
    const fs = new MemoryFs({ '/memories/a/f': '' })
    const rename = { command: 'rename', old_path: '/memories/a', new_path: '/memories/a/new/b' } as const
    await expect(memoryHandlers(fs).rename(rename)).rejects.toThrow('which lies inside it')
    expect(await fs.exists('/memories/a/new')).toBe(false)
  })

  it('leaves nothing behind after a failed rename', async () => {
    const fs = new MemoryFs({ '/memories/a': '' })
    const rename = { command: 'rename', old_path: '/memories/b', new_path: '/memories/new/b' } as const
    await expect(memoryHandlers(fs).rename(rename)).rejects.toThrow('The path /memories/b does not exist')
    expect(await fs.exists('/memories/new')).toBe(false)
  })

  it('does not replace an empty text', async () => {
    const handlers = memoryHandlers(new MemoryFs({ '/memories/a': 'text' }))
    const replace = { command: 'str_replace', path: '/memories/a', old_str: '', new_str: 'x' } as const
    await expect(handlers.str_replace(replace)).rejects.toThrow('did not appear verbatim in /memories/a')
  })

  it('explains arguments of a wrong type', async () => {
    const tool = betaMemoryTool(memoryHandlers(new MemoryFs()))
    const run = async (input: unknown) => tool.run(tool.parse(input))
    await expect(run({ command: 'view' })).rejects.toThrow('Invalid `path` parameter of view')
    await expect(run({ command: 'view', path: '/memories', view_range: ['1', 2] })).rejects.toThrow(
      'Invalid `view_range.0` parameter of view',
    )
    await expect(
      run({ command: 'insert', path: '/memories/a', insert_line: 1.5, insert_text: '' }),
    ).rejects.toThrow('Invalid `insert_line` parameter of insert')
  })
})

/** Replaces a directory by a link as soon as its path was resolved. */
class SwappedFs extends MemoryFs {
  override async realpath(...asked: Parameters<MemoryFs['realpath']>): Promise<string> {
    const real = await super.realpath(...asked)
    if (asked[0].startsWith('/memories/a')) {
      await this.remove('/memories/a', { recursive: true })
      await this.symlink('/secret', '/memories/a')
    }
    return real
  }
}

function toolUse(...commands: readonly unknown[]): Reply {
  const content = commands.map((input, index) => ({
    type: 'tool_use',
    id: `toolu_${index}`,
    name: 'memory',
    input,
  }))
  return message(content, 'tool_use')
}

function message(content: readonly unknown[], stop_reason: string): Reply {
  const usage = { input_tokens: 1, output_tokens: 1 }
  return { json: { id: 'm', type: 'message', role: 'assistant', model: 'm', content, stop_reason, usage } }
}
