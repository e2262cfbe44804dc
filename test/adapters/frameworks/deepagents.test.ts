import { AIMessage, ToolMessage } from '@langchain/core/messages'
import { fakeModel } from '@langchain/core/testing'
import { MemoryFs, readText } from 'coppice'
import { guard, zonePolicy } from 'coppice/access'
import { deepAgentsBackend } from 'coppice/adapters/deepagents'
import { openHome } from 'coppice/store'
import { type BackendProtocolV2, createDeepAgent } from 'deepagents'
import { describe, expect, it } from 'vitest'

describe('deepAgentsBackend', () => {
  it('gives a deep agent the files of a vault', async () => {
    await using home = await openHome()
    const vault = await home.createVault('notes')
    await vault.write('/todo/monday.md', 'water the trees\n')
    const model = fakeModel()
      .respondWithTools([{ name: 'ls', args: { path: '/todo' }, id: '1' }])
      .respondWithTools([{ name: 'read_file', args: { file_path: '/todo/monday.md' }, id: '2' }])
      .respondWithTools([
        {
          name: 'edit_file',
          args: { file_path: '/todo/monday.md', old_string: 'water', new_string: 'prune' },
          id: '3',
        },
        { name: 'write_file', args: { file_path: '/todo/tuesday.md', content: 'buy seeds\n' }, id: '4' },
      ])
      .respondWithTools([
        { name: 'grep', args: { pattern: 'prune' }, id: '5' },
        { name: 'glob', args: { pattern: '**/*.md', path: '/' }, id: '6' },
      ])
      .respond(new AIMessage('Done.'))
    // The assignment lets the compiler compare our protocol with theirs.
    const backend: BackendProtocolV2 = deepAgentsBackend(vault)
    const agent = createDeepAgent({ model, backend })
    const { messages } = await agent.invoke({ messages: [{ role: 'user', content: 'Plan.' }] })

    expect(await readText(vault, '/todo/monday.md')).toBe('prune the trees\n')
    expect(await readText(vault, '/todo/tuesday.md')).toBe('buy seeds\n')
    const results = messages.filter(ToolMessage.isInstance).map(({ content }) => JSON.stringify(content))
    expect(results).toHaveLength(6)
    expect(results[0]).toContain('/todo/monday.md')
    expect(results[1]).toContain('water the trees')
    expect(results[4]).toContain('/todo/monday.md')
    expect(results[5]).toContain('/todo/tuesday.md')
  })

  it('loses no edit of parallel calls', async () => {
    const fs = new MemoryFs({ '/list': 'a\nb\nc\nd\n' })
    const backend = deepAgentsBackend(fs)
    const edits = ['a', 'b', 'c', 'd'].map((name) => backend.edit('/list', name, name.toUpperCase()))
    expect(await Promise.all(edits)).toEqual(
      Array.from({ length: 4 }, () => ({ path: '/list', filesUpdate: null, occurrences: 1 })),
    )
    expect(await readText(fs, '/list')).toBe('A\nB\nC\nD\n')
  })

  it('acts as the given caller, and reports denied writes to the model', async () => {
    const fs = guard(new MemoryFs(), [zonePolicy()])
    const backend = deepAgentsBackend(fs, { ctx: { caller: { kind: 'context', context: 'anna' } } })
    expect(await backend.write('/home/anna/plan.md', 'think')).toEqual({
      path: '/home/anna/plan.md',
      filesUpdate: null,
    })
    expect((await backend.write('/home/ben/plan.md', 'mine')).error).toMatch(/^Error writing file .*EACCES/)
    expect(await backend.uploadFiles([['/home/ben/a', new Uint8Array()]])).toEqual([
      { path: '/home/ben/a', error: 'permission_denied' },
    ])
  })

  it('refuses to edit binary files, and leaves them unchanged', async () => {
    const fs = new MemoryFs({ '/latin': Uint8Array.of(0x61, 0xe9) })
    const edited = await deepAgentsBackend(fs).edit('/latin', 'a', 'b')
    expect(edited.error).toContain('not UTF-8')
  })

  it('reads through links, but neither writes to nor deletes their targets', async () => {
    const fs = new MemoryFs({ '/real/a.txt': 'text\n' })
    await fs.symlink('/real', '/door')
    await fs.symlink('/real/a.txt', '/link.txt')
    await fs.symlink('/nowhere', '/broken')
    const backend = deepAgentsBackend(fs)
    const { files } = await backend.ls('/')
    expect(files?.map(({ path, is_dir, size }) => [path, is_dir, size])).toEqual([
      ['/door/', true, 0],
      ['/link.txt', false, 5],
      ['/real/', true, 0],
    ])
    expect(await backend.read('/link.txt')).toMatchObject({ content: 'text\n' })
    expect((await backend.write('/link.txt', 'x')).error).toContain('because it is a symlink')
    expect(await backend.delete('/door')).toEqual({ path: '/door', filesUpdate: null })
    expect(await readText(fs, '/real/a.txt')).toBe('text\n')
  })

  it('searches text by name or by path below the start', async () => {
    const files = { '/app/src/a.ts': 'port', '/app/b.ts': 'port', '/app/c.pdf': 'port' }
    const backend = deepAgentsBackend(new MemoryFs(files))
    const found = async (glob?: string) =>
      (await backend.grep('port', '/app', glob)).matches?.map(({ path }) => path)
    expect(await found()).toEqual(['/app/b.ts', '/app/src/a.ts'])
    expect(await found('a.*')).toEqual(['/app/src/a.ts'])
    expect(await found('src/*.ts')).toEqual(['/app/src/a.ts'])
    expect(await found('//src/*.ts')).toEqual(['/app/src/a.ts'])
    expect(await found('{/b,/src/a}.ts')).toEqual(['/app/b.ts', '/app/src/a.ts'])
  })

  it('searches the text of one file, whose path a pattern has to match', async () => {
    const backend = deepAgentsBackend(new MemoryFs({ '/app/src/a.ts': 'port' }))
    const countMatches = async (glob: string) =>
      (await backend.grep('port', '/app/src/a.ts', glob)).matches?.length
    for (const pattern of ['*.ts', '**/*.ts', '/*.ts']) expect(await countMatches(pattern)).toBe(1)
    expect(await countMatches('**/*.md')).toBe(0)
  })

  it('lists by a pattern only what is below the given path', async () => {
    const files = { '/README.md': '', '/src/x.ts': '', '/app/README.md': '', '/app/src/y.ts': '' }
    const backend = deepAgentsBackend(new MemoryFs(files))
    const found = async (pattern: string) =>
      (await backend.glob(pattern, '/app')).files?.map(({ path }) => path)
    for (const pattern of ['src/*.ts', '/src/*.ts', '//src/*.ts'])
      expect(await found(pattern)).toEqual(['/app/src/y.ts'])
    expect(await found('{/README.md,/src/*}')).toEqual(['/app/README.md', '/app/src/y.ts'])
  })

  it('empties the root instead of deleting it', async () => {
    const fs = new MemoryFs({ '/a/b': '', '/c': '' })
    const backend = deepAgentsBackend(fs)
    expect(await backend.delete('/')).toEqual({ path: '/', filesUpdate: null })
    expect(await backend.ls('/')).toEqual({ files: [] })
  })

  it('never leaves the file system, whatever the path', async () => {
    const backend = deepAgentsBackend(new MemoryFs({ '/a': 'x' }))
    expect(await backend.read('../a')).toEqual({ error: expect.stringContaining("'..' component") })
    expect(await backend.downloadFiles(['/x/../a', '/\0'])).toEqual([
      { path: '/x/../a', content: null, error: 'invalid_path' },
      { path: '/\0', content: null, error: 'invalid_path' },
    ])
    expect(await backend.glob('../*')).toEqual({
      files: [{ path: '/a', is_dir: false, size: 1, modified_at: expect.any(String) }],
    })
  })
})
