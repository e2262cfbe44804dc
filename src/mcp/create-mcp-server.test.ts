import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { Client, InMemoryTransport, ResourceNotFoundError } from '@modelcontextprotocol/client'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { asSystem } from '../access/index.ts'
import { openHome } from '../backends/vault/index.ts'
import { type Namespace, type NamespaceOptions, openNamespace } from '../namespace/index.ts'
import { createMcpServer, type McpServerOptions } from './create-mcp-server.ts'

/** Opens a namespace in memory with its own workspace. */
async function namespaceFor(options: Partial<NamespaceOptions> = {}): Promise<Namespace> {
  const home = await openHome({ engine: 'memory' })
  await home.createVault('project')
  const namespace = await openNamespace({ home, context: 'alice', vault: 'project', ...options })
  onTestFinished(async () => {
    await namespace.close()
    await home.close()
  })
  return namespace
}

interface ClientSetup {
  /** Roots of the client, which may change. */
  readonly roots?: string[]
  readonly options?: Partial<McpServerOptions>
}

/** Connects a real client to a server. */
async function clientOf(namespace: Namespace, { roots, options }: ClientSetup = {}): Promise<Client> {
  const capabilities = roots === undefined ? {} : { roots: { listChanged: true } }
  const client = new Client({ name: 'tester', version: '1' }, { capabilities })
  if (roots !== undefined) {
    client.setRequestHandler('roots/list', () => ({
      roots: roots.map((path) => ({ uri: pathToFileURL(path).href })),
    }))
  }
  const session = createMcpServer(namespace, { version: '1.2.3', ...options }).open()
  const [ours, theirs] = InMemoryTransport.createLinkedPair()
  await session.connect(ours)
  await client.connect(theirs)
  onTestFinished(() => session.close())
  return client
}

async function textOf(client: Client, name: string, args: Record<string, unknown>): Promise<string> {
  const result = await client.callTool({ name, arguments: args })
  expect(result.isError, JSON.stringify(result.content)).toBeUndefined()
  return firstText(result)
}

function firstText({ content }: Awaited<ReturnType<Client['callTool']>>): string {
  const [first] = content
  return first?.type === 'text' ? first.text : ''
}

describe('tools for a client', () => {
  it('show an image as an image', async () => {
    const namespace = await namespaceFor()
    const data =
      'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=='
    await namespace.fs.write('/shared/pixel.png', Buffer.from(data, 'base64'), {}, asSystem)
    const client = await clientOf(namespace)
    const path = 'vfs:///shared/pixel.png'
    expect(await client.callTool({ name: 'file_read', arguments: { path } })).toMatchObject({
      content: [
        { type: 'text', text: '(image/png, 70 bytes)' },
        { type: 'image', data, mimeType: 'image/png' },
      ],
    })
  })

  it('asks clients that cut long results for room for the longest page of a file', async () => {
    const namespace = await namespaceFor()
    const client = await clientOf(namespace)
    const path = 'vfs:///workspace/long.txt'
    await textOf(client, 'write_file', { path, content: `${'x'.repeat(99)}\n`.repeat(3000) })
    const page = await textOf(client, 'file_read', { path })
    const { tools } = await client.listTools()
    const meta = tools.find(({ name }) => name === 'file_read')?._meta ?? {}
    expect(page.length).toBeGreaterThan(90_000)
    expect(meta['anthropic/maxResultSizeChars']).toBeGreaterThan(page.length)
  })

  it('are all listed, with schema, title and hints', async () => {
    const client = await clientOf(await namespaceFor())
    const { tools } = await client.listTools()
    const byName = new Map(tools.map((tool) => [tool.name, tool]))
    expect([...byName.keys()]).toEqual(
      expect.arrayContaining([
        'write_file',
        'file_read',
        'file_grep',
        'file_edit',
        'vfs_list',
        'workspace_diff',
      ]),
    )
    expect(byName.get('file_read')).toMatchObject({
      title: expect.any(String),
      description: expect.any(String),
      inputSchema: { type: 'object', properties: { path: { type: 'string' } }, additionalProperties: false },
      annotations: { readOnlyHint: true, openWorldHint: false },
    })
    expect(byName.get('vfs_delete')?.annotations).toMatchObject({
      readOnlyHint: false,
      destructiveHint: true,
    })
  })

  it('act for the context, and the journal records the client and the call', async () => {
    const home = await openHome({ engine: 'memory' })
    const vault = await home.createVault('journaled')
    const namespace = await openNamespace({ home, context: 'alice', vault: 'journaled' })
    onTestFinished(async () => {
      await namespace.close()
      await home.close()
    })
    const client = await clientOf(namespace)
    await textOf(client, 'write_file', { path: 'vfs:///workspace/a.txt', content: 'one' })
    const [last] = await Array.fromAsync(vault.journal({ newestFirst: true }))
    expect(last).toMatchObject({ path: '/a.txt', caller: { context: 'alice' } })
    expect(last?.trace).toMatch(/^tester\/\d+$/)
  })

  it('report a denial, a missing file or invalid arguments as a result for the model', async () => {
    const client = await clientOf(await namespaceFor())
    const calls = [
      { name: 'write_file', arguments: { path: 'vfs:///sys/x', content: 'x' } },
      { name: 'file_read', arguments: { path: 'vfs:///workspace/none' } },
      { name: 'file_read', arguments: { file_path: 'vfs:///workspace/none' } },
    ]
    const results = await Promise.all(calls.map((call) => client.callTool(call)))
    expect(results.map(({ isError }) => isError)).toEqual([true, true, true])
    expect(results.map(firstText)).toEqual([
      expect.stringContaining('EACCES'),
      expect.stringContaining('ENOENT'),
      expect.stringContaining('path'),
    ])
  })

  it('report an unknown tool as a protocol error that lists the known ones', async () => {
    const client = await clientOf(await namespaceFor())
    await expect(client.callTool({ name: 'no_such_tool' })).rejects.toMatchObject({
      code: -32602,
      message: expect.stringContaining('file_read'),
    })
    const shouted = client.callTool({ name: 'x'.repeat(100_000) })
    await expect(shouted).rejects.toMatchObject({ message: expect.stringMatching(/'x{100}…'.{1,1000}$/) })
  })

  it('cannot be called if they are not offered', async () => {
    const namespace = await namespaceFor()
    const client = await clientOf(namespace, { options: { tools: ['file_read', 'vfs_list'] } })
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['file_read', 'vfs_list'])
    const write = { name: 'write_file', arguments: { path: 'vfs:///shared/x', content: 'x' } }
    await expect(client.callTool(write)).rejects.toMatchObject({ code: -32602 })
    expect(await namespace.fs.exists('/shared/x')).toBe(false)
  })

  it('change nothing in a read-only server, whatever their hints say', async () => {
    const namespace = await namespaceFor({ isReadOnly: true })
    const client = await clientOf(namespace, { options: { isReadOnly: true } })
    const { tools } = await client.listTools()
    expect(tools.every(({ annotations }) => annotations?.readOnlyHint === true)).toBe(true)
    const write = await namespace.tools().call('write_file', { path: 'vfs:///workspace/x', content: 'x' })
    expect(write).toMatchObject({ isError: true, error: { code: 'EACCES' } })
    expect(client.getInstructions()).toContain('only read')
  })

  it('return the whole file or range that was read', async () => {
    const client = await clientOf(await namespaceFor())
    const path = 'vfs:///workspace/long.txt'
    const content = Array.from({ length: 3000 }, (_, line) => `line ${line + 1}\n`)
    await textOf(client, 'write_file', { path, content: content.join('') })
    const first = await textOf(client, 'file_read', { path, numbered: false })
    expect(first).toBe(`${content.slice(0, 2000).join('')}… (more follows: continue with offset 2001)`)
    const rest = await textOf(client, 'file_read', { path, numbered: false, offset: 2001 })
    expect(rest).toBe(content.slice(2000).join(''))
    const range = await textOf(client, 'file_lines', { path, start: 501, end: 1500 })
    expect(range).toBe(content.slice(500, 1500).join('').trimEnd())
  })

  it('cache long outputs, and return a stub that leads to them', async () => {
    const client = await clientOf(await namespaceFor())
    const content = Array.from({ length: 2000 }, (_, line) => `line ${line}`).join('\n')
    await textOf(client, 'write_file', { path: 'vfs:///workspace/long.txt', content })
    const stub = await textOf(client, 'file_grep', { path: 'vfs:///workspace/long.txt', pattern: 'line' })
    const [uri = ''] = /vfs:\/\/\/sys\/tool_cache\/alice\/[^\s)`'"]+/.exec(stub) ?? []
    expect(await textOf(client, 'file_grep', { path: uri, pattern: 'line 1999' })).toContain('line 1999')
  })
})

describe('a session', () => {
  it('introduces itself, answers a ping, and gives instructions', async () => {
    const client = await clientOf(await namespaceFor())
    expect(client.getServerVersion()).toMatchObject({ name: 'coppice', version: '1.2.3' })
    await expect(client.ping()).resolves.toEqual({})
    expect(client.getInstructions()).toContain("'project'")
    expect(client.getInstructions()).toContain('vfs:///home/alice')
  })

  it('logs each call at the requested level', async () => {
    const client = await clientOf(await namespaceFor())
    const messages: unknown[] = []
    client.fallbackNotificationHandler = async ({ params }) => void messages.push(params)
    await textOf(client, 'vfs_list', { path: 'vfs:///shared' })
    expect(messages).toEqual([])
    await client.setLoggingLevel('debug')
    await textOf(client, 'vfs_list', { path: 'vfs:///shared' })
    expect(messages).toMatchObject([{ level: 'debug', data: { tool: 'vfs_list', failed: false } }])
  })
})

describe('files as resources', () => {
  it('are listed from the top, page by page, without hidden files', async () => {
    const namespace = await namespaceFor()
    const paths = Array.from(
      { length: 150 },
      (_, index) => `/workspace/d/${String(index).padStart(3, '0')}.md`,
    )
    for (const path of [...paths, '/workspace/top.txt', '/workspace/.git/x', '/workspace/node_modules/y']) {
      await namespace.fs.write(path, 'x', {}, asSystem)
    }
    const client = await clientOf(namespace)
    // One page: listResources() would fetch them all.
    const first = await client.request({ method: 'resources/list' })
    expect(first.resources).toHaveLength(100)
    expect(first.resources.slice(0, 3)).toMatchObject([
      { uri: 'vfs:///workspace', mimeType: 'inode/directory' },
      { uri: 'vfs:///workspace/top.txt', name: 'workspace/top.txt', mimeType: 'text/plain' },
      { uri: 'vfs:///workspace/d/000.md', mimeType: 'text/markdown' },
    ])
    const { nextCursor: cursor = '' } = first
    const second = await client.listResources({ cursor })
    // A file removed between two pages leaves no gap.
    await namespace.fs.remove('/workspace/d/097.md', {}, asSystem)
    expect(await client.listResources({ cursor })).toEqual(second)
    const all = [...first.resources, ...second.resources].map(({ uri }) => uri.slice('vfs://'.length))
    expect(all).toEqual(['/workspace', '/workspace/top.txt', ...paths, '/home/alice', '/shared'])
    expect(second.nextCursor).toBeUndefined()
    await expect(client.listResources({ cursor: 'made up' })).rejects.toMatchObject({ code: -32602 })
  })

  it('are read as text or bytes with their type, and directories as listings', async () => {
    const namespace = await namespaceFor()
    await namespace.fs.write('/shared/notes.md', 'grüße\n', {}, asSystem)
    await namespace.fs.write('/shared/pixel.png', new Uint8Array([0x89, 0x50, 0, 255]), {}, asSystem)
    await namespace.fs.write('/shared/a b/odd', 'x', {}, asSystem)
    await namespace.fs.write('/shared/a b/nul', 'a\0b', {}, asSystem)
    const client = await clientOf(namespace)
    const read = async (uri: string) => (await client.readResource({ uri })).contents
    expect(await read('vfs:///shared/notes.md')).toEqual([
      { uri: 'vfs:///shared/notes.md', mimeType: 'text/markdown', text: 'grüße\n' },
    ])
    expect(await read('vfs:///shared/pixel.png')).toEqual([
      { uri: 'vfs:///shared/pixel.png', mimeType: 'image/png', blob: 'iVAA/w==' },
    ])
    expect(await read('vfs:///shared/a%20b/odd')).toMatchObject([{ mimeType: 'text/plain', text: 'x' }])
    expect(await read('vfs:///shared/a%20b/nul')).toMatchObject([
      { mimeType: 'application/octet-stream', blob: 'YQBi' },
    ])
    expect(await read('vfs:///shared')).toMatchObject([
      { mimeType: 'inode/directory', text: 'a b/\nnotes.md\npixel.png' },
    ])
  })

  it('follow links, or explain why not', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'coppice-links-'))
    onTestFinished(() => rmSync(directory, { recursive: true }))
    mkdirSync(join(directory, 'real/below'), { recursive: true })
    writeFileSync(join(directory, 'real/file'), 'content')
    execFileSync('sh', ['-c', 'mkfifo "$0"', join(directory, 'pipe')])
    const targets = {
      folder: 'real',
      text: 'real/file',
      gone: 'nowhere',
      out: '/etc',
      loop: 'loop',
      queue: 'pipe',
    }
    for (const [name, target] of Object.entries(targets)) symlinkSync(target, join(directory, name))
    const mounts = { '/mnt/host': { backend: 'host', directory } } as const
    const client = await clientOf(await namespaceFor({ config: { mounts } }))
    const read = async (name: string) =>
      (await client.readResource({ uri: `vfs:///mnt/host/${name}` })).contents
    expect(await read('folder')).toMatchObject([{ mimeType: 'inode/directory', text: 'below/\nfile' }])
    expect(await read('text')).toMatchObject([{ text: 'content' }])
    const refused = (code: number, words: RegExp) => ({ code, message: expect.stringMatching(words) })
    await expect(read('gone')).rejects.toMatchObject(refused(-32602, /leads to a missing file/))
    await expect(read('out')).rejects.toMatchObject(refused(-32602, /EACCES.*leads out/))
    await expect(read('loop')).rejects.toMatchObject(refused(-32602, /ELOOP/))
    for (const name of ['pipe', 'queue'])
      await expect(read(name)).rejects.toMatchObject(refused(-32602, /pipe.* socket.* device/))
  })

  it('have unambiguous names in the list and in listings', async () => {
    const namespace = await namespaceFor()
    await namespace.fs.write('/shared/a\nforged', 'x', {}, asSystem)
    const client = await clientOf(namespace)
    const { contents } = await client.readResource({ uri: 'vfs:///shared' })
    expect(contents).toMatchObject([{ text: 'a%0Aforged' }])
    const { resources } = await client.listResources()
    expect(resources.map(({ name }) => name)).toContain('shared/a%0Aforged')
  })

  it('are not found if missing, and invalid for a foreign URI', async () => {
    const client = await clientOf(await namespaceFor())
    const failure = (uri: string) =>
      client.readResource({ uri }).catch((error: { code: number; data: unknown }) => error)
    const none = 'vfs:///shared/none'
    // Nothing but the URI is how the protocol marks a missing resource.
    expect(await failure(none)).toMatchObject({ code: -32602, data: { uri: none } })
    expect(await failure(none)).toBeInstanceOf(ResourceNotFoundError)
    for (const uri of [
      'vfs://shared',
      'vfs:////etc/passwd',
      'vfs:///../x',
      'vfs:///shared/%2e%2e/x',
      'file:///etc',
    ]) {
      const error = await failure(uri)
      expect(error, uri).toMatchObject({ code: -32602, data: { uri, code: 'EINVAL' } })
      expect(error, uri).not.toBeInstanceOf(ResourceNotFoundError)
    }
  })

  it('are refused if too large, with the alternative', async () => {
    const namespace = await namespaceFor()
    await namespace.fs.write('/shared/large', new Uint8Array(9 * 1024 * 1024), {}, asSystem)
    const client = await clientOf(namespace)
    await expect(client.readResource({ uri: 'vfs:///shared/large' })).rejects.toThrow(/file_lines/)
  })

  it('have a template whose path is completed name by name', async () => {
    const namespace = await namespaceFor()
    await namespace.fs.write('/workspace/src/cart.ts', '', {}, asSystem)
    await namespace.fs.write('/workspace/src/card/x', '', {}, asSystem)
    const client = await clientOf(namespace)
    const { resourceTemplates } = await client.listResourceTemplates()
    const uri = resourceTemplates[0]?.uriTemplate ?? ''
    expect(uri).toBe('vfs:///{+path}')
    const complete = async (value: string) =>
      (await client.complete({ ref: { type: 'ref/resource', uri }, argument: { name: 'path', value } }))
        .completion
    expect(await complete('wor')).toEqual({ values: ['workspace/'], total: 1, hasMore: false })
    expect((await complete('workspace/src/car')).values).toEqual([
      'workspace/src/card/',
      'workspace/src/cart.ts',
    ])
    expect((await complete('/workspace/s')).values).toEqual(['workspace/src/'])
    expect((await complete('none/at/all')).values).toEqual([])
    // An unreadable path is not offered.
    for (const value of ['../', '../wor', 'workspace/../', './', 'workspace//', 'workspace/./s', '\0/']) {
      expect((await complete(value)).values, value).toEqual([])
    }
  })
})

describe('subscriptions', () => {
  /** Connects a client that records its notifications. */
  async function listening(
    namespace: Namespace,
  ): Promise<{ client: Client; updated: string[]; lists: number[] }> {
    const client = await clientOf(namespace)
    const updated: string[] = []
    const lists: number[] = []
    client.setNotificationHandler(
      'notifications/resources/updated',
      ({ params }) => void updated.push(params.uri),
    )
    client.setNotificationHandler('notifications/resources/list_changed', () => void lists.push(1))
    return { client, updated, lists }
  }

  it('report changes by anyone, at the file or below the directory, until they end', async () => {
    const namespace = await namespaceFor()
    await namespace.fs.write('/workspace/d/a', '1', {}, asSystem)
    const { client, updated } = await listening(namespace)
    await client.subscribeResource({ uri: 'vfs:///workspace/d/a' })
    await client.subscribeResource({ uri: 'vfs:///workspace/d' })
    await namespace.fs.write('/workspace/d/a', '2', {}, asSystem)
    await vi.waitFor(
      () => expect(updated.toSorted()).toEqual(['vfs:///workspace/d', 'vfs:///workspace/d/a']),
      20_000,
    )
    await client.unsubscribeResource({ uri: 'vfs:///workspace/d/a' })
    await namespace.fs.write('/workspace/d/a', '3', {}, asSystem)
    await vi.waitFor(
      () => expect(updated.filter((uri) => uri === 'vfs:///workspace/d')).toHaveLength(2),
      20_000,
    )
    expect(updated.filter((uri) => uri === 'vfs:///workspace/d/a')).toHaveLength(1)
    await client.subscribeResource({ uri: 'vfs:///workspace/d/a' })
    await namespace.fs.write('/workspace/d/a', '4', {}, asSystem)
    await vi.waitFor(
      () => expect(updated.filter((uri) => uri === 'vfs:///workspace/d/a')).toHaveLength(2),
      20_000,
    )
  })

  it('report no other files', async () => {
    const namespace = await namespaceFor()
    const { client, updated } = await listening(namespace)
    await client.subscribeResource({ uri: 'vfs:///shared/a' })
    await client.subscribeResource({ uri: 'vfs:///shared/last' })
    await namespace.fs.write('/shared/ab', 'x', {}, asSystem)
    await namespace.fs.write('/shared/last', 'x', {}, asSystem)
    await vi.waitFor(() => expect(updated).toEqual(['vfs:///shared/last']), 20_000)
  })

  it('start with the response: a write right after it is reported', async () => {
    const namespace = await namespaceFor()
    const { client, updated } = await listening(namespace)
    const uri = 'vfs:///workspace/soon'
    await Promise.all([
      client.subscribeResource({ uri }),
      textOf(client, 'write_file', { path: uri, content: 'x' }),
    ])
    await vi.waitFor(() => expect(updated).toContain(uri), 20_000)
  })

  it('report added and removed files only to clients that have listed them', async () => {
    const namespace = await namespaceFor()
    await namespace.fs.write('/shared/a', '1', {}, asSystem)
    const { client, lists, updated } = await listening(namespace)
    await client.listResources()
    await client.subscribeResource({ uri: 'vfs:///shared/a' })
    await namespace.fs.write('/shared/a', '2', {}, asSystem)
    await vi.waitFor(() => expect(updated).toHaveLength(1), 20_000)
    expect(lists).toHaveLength(0)
    await namespace.fs.write('/shared/b', '1', {}, asSystem)
    await vi.waitFor(() => expect(lists).toHaveLength(1), 20_000)
  })

  it('refuse a foreign URI', async () => {
    const client = await clientOf(await namespaceFor())
    await expect(client.subscribeResource({ uri: 'vfs:////etc' })).rejects.toMatchObject({ code: -32602 })
  })
})

describe('directories of this machine', () => {
  /** Creates two directories with a file each. */
  function directories(): { root: string; app: string; other: string } {
    const root = mkdtempSync(join(tmpdir(), 'coppice-roots-'))
    onTestFinished(() => rmSync(root, { recursive: true, force: true }))
    for (const name of ['app', 'other']) {
      mkdirSync(join(root, name))
      writeFileSync(join(root, name, 'file'), `in ${name}`)
    }
    return { root, app: join(root, 'app'), other: join(root, 'other') }
  }

  /** Reports whether a client can read the file in a directory. */
  async function canRead(client: Client, directory: string): Promise<boolean> {
    const result = await client.callTool({ name: 'file_read', arguments: { path: join(directory, 'file') } })
    if (result.isError !== true) return true
    expect(firstText(result)).toContain('EACCES')
    return false
  }

  it('are not accessible unless allowed, even if they are roots', async () => {
    const { app } = directories()
    const client = await clientOf(await namespaceFor(), { roots: [app] })
    expect(await canRead(client, app)).toBe(false)
  })

  it("follow the owner's list for a client without roots", async () => {
    const { app, other } = directories()
    const client = await clientOf(await namespaceFor({ allow: [app] }))
    expect([await canRead(client, app), await canRead(client, other)]).toEqual([true, false])
  })

  it('are restricted to the current roots of a client', async () => {
    const { root, app, other } = directories()
    const roots = [app]
    const namespace = await namespaceFor({ allow: [root] })
    const client = await clientOf(namespace, { roots })
    expect([await canRead(client, app), await canRead(client, other)]).toEqual([true, false])
    roots.splice(0, 1, other)
    await client.sendRootsListChanged()
    expect([await canRead(client, app), await canRead(client, other)]).toEqual([false, true])
  })

  it('are never extended by a root above an allowed directory', async () => {
    const { root, app, other } = directories()
    const client = await clientOf(await namespaceFor({ allow: [app] }), { roots: [root] })
    expect([await canRead(client, app), await canRead(client, other)]).toEqual([true, false])
  })

  it('are separate for each client', async () => {
    const { root, app, other } = directories()
    const namespace = await namespaceFor({ allow: [root] })
    const first = await clientOf(namespace, { roots: [app] })
    const second = await clientOf(namespace, { roots: [other] })
    expect([await canRead(first, app), await canRead(first, other)]).toEqual([true, false])
    expect([await canRead(second, app), await canRead(second, other)]).toEqual([false, true])
  })

  it("are the client's roots if the owner allows roots; a missing one is ignored", async () => {
    const { root, app, other } = directories()
    const roots = [app, join(root, 'missing')]
    const client = await clientOf(await namespaceFor(), { roots, options: { allowsRoots: true } })
    expect([await canRead(client, app), await canRead(client, other)]).toEqual([true, false])
  })

  it("wait for the client's response about its roots", async () => {
    const { root, app } = directories()
    const client = await clientOf(await namespaceFor({ allow: [root] }), { roots: [] })
    const answer = Promise.withResolvers<void>()
    client.setRequestHandler('roots/list', async () => {
      await answer.promise
      return { roots: [{ uri: pathToFileURL(app).href }] }
    })
    await client.sendRootsListChanged()
    const read = canRead(client, app)
    // Long enough for a call that does not wait to finish.
    for (let looks = 0; looks < 50; looks++) await stat(app)
    answer.resolve()
    expect(await read).toBe(true)
  })

  it('stay those of the last answer if an earlier one arrives later', async () => {
    const { root, app, other } = directories()
    const client = await clientOf(await namespaceFor({ allow: [root] }), { roots: [] })
    const requests: PromiseWithResolvers<string>[] = []
    client.setRequestHandler('roots/list', async () => {
      const answer = Promise.withResolvers<string>()
      requests.push(answer)
      return { roots: [{ uri: pathToFileURL(await answer.promise).href }] }
    })
    await client.sendRootsListChanged()
    const early = canRead(client, app)
    await expect.poll(() => requests.length).toBe(1)
    await client.sendRootsListChanged()
    const late = canRead(client, app)
    await expect.poll(() => requests.length).toBe(2)
    requests[1]?.resolve(other)
    expect(await late).toBe(false)
    requests[0]?.resolve(app)
    expect(await early).toBe(false)
    expect([await canRead(client, app), await canRead(client, other)]).toEqual([false, true])
  })

  it('are closed to a client that is not initialized', async () => {
    const { app } = directories()
    const session = createMcpServer(await namespaceFor({ allow: [app] }), { version: '1' }).open()
    const [ours, theirs] = InMemoryTransport.createLinkedPair()
    await session.connect(ours)
    onTestFinished(() => session.close())
    const answer = Promise.withResolvers<unknown>()
    theirs.onmessage = answer.resolve
    const params = { name: 'file_read', arguments: { path: join(app, 'file') } }
    await theirs.send({ jsonrpc: '2.0', id: 1, method: 'tools/call', params })
    expect(await answer.promise).toMatchObject({ id: 1, result: { isError: true } })
  })

  it('are requested once for all changes in the meantime', async () => {
    const { app } = directories()
    const client = await clientOf(await namespaceFor({ allow: [app] }), { roots: [] })
    const [begun, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    let asked = 0
    client.setRequestHandler('roots/list', async () => {
      asked++
      begun.resolve()
      await released.promise
      return { roots: [{ uri: pathToFileURL(app).href }] }
    })
    const tell = () => Promise.all(Array.from({ length: 1000 }, () => client.sendRootsListChanged()))
    await tell()
    const read = canRead(client, app)
    await begun.promise
    await tell()
    released.resolve()
    expect(await read).toBe(true)
    // One request that was pending, and one for all later changes.
    expect(asked).toBe(2)
  })

  it('are closed to a client that has roots and does not list them', async () => {
    const { app } = directories()
    const namespace = await namespaceFor({ allow: [app] })
    const roots: string[] = []
    const client = await clientOf(namespace, { roots })
    client.setRequestHandler('roots/list', () => {
      throw new Error('not now')
    })
    await client.sendRootsListChanged()
    expect(await canRead(client, app)).toBe(false)
  })
})
