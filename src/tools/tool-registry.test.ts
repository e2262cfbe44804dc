import { describe, expect, it } from 'vitest'
import { MemoryFs, readText } from '../vfs/index.ts'
import { OutputCache } from './cache/index.ts'
import { createToolRegistry, type ToolRegistry } from './tool-registry.ts'

const NAMES = [
  'file_read',
  'file_head',
  'file_tail',
  'file_lines',
  'file_grep',
  'file_glob',
  'write_file',
  'file_edit',
  'vfs_list',
  'vfs_info',
  'vfs_copy',
  'vfs_move',
  'vfs_mkdir',
  'vfs_delete',
]

async function failureOf(tools: ToolRegistry, name: string, args: unknown): Promise<string> {
  const result = await tools.call(name, args)
  expect(result.isError).toBe(true)
  expect(result.error?.message).toBe(result.text)
  return result.text
}

describe('the tools of a file system', () => {
  it('are those of the contract, each with description, hints and a described schema', () => {
    const { tools } = createToolRegistry(new MemoryFs())
    expect(tools.map(({ name }) => name)).toEqual(NAMES)
    for (const { title, description, inputSchema } of tools) {
      expect(title).not.toBe('')
      expect(description).toMatch(/^[A-Z][^\n]{20,}\.$/)
      expect(inputSchema).toMatchObject({
        $schema: 'https://json-schema.org/draft/2020-12/schema',
        type: 'object',
        additionalProperties: false,
      })
      const properties = Object.values(inputSchema['properties'] ?? {})
      expect(properties.every((property) => property.description !== '')).toBe(true)
    }
  })

  it('have hints about their effect on files', () => {
    const { tools } = createToolRegistry(new MemoryFs())
    const reading = tools.filter(({ hints }) => hints.readOnly).map(({ name }) => name)
    expect(reading).toEqual([...NAMES.slice(0, 6), 'vfs_list', 'vfs_info'])
    const harmless = tools.filter(({ hints }) => !hints.readOnly && !hints.destructive)
    expect(harmless.map(({ name }) => name)).toEqual(['vfs_mkdir'])
  })

  it('have a Standard Schema with defaults', async () => {
    const [, head] = createToolRegistry(new MemoryFs()).tools
    const parsed = await head?.schema['~standard'].validate({ path: 'vfs:///a' })
    expect(parsed).toEqual({ value: { path: 'vfs:///a', lines: 50 } })
  })

  it('are limited to the requested ones; others cannot be called', async () => {
    const fs = new MemoryFs({ '/a': 'x' })
    const tools = createToolRegistry(fs, { tools: ['file_head'] })
    expect(tools.tools.map(({ name }) => name)).toEqual(['file_head'])
    expect(await failureOf(tools, 'vfs_delete', { path: 'vfs:///a' })).toBe(
      "ENOTSUP: there is no tool 'vfs_delete'; there are: file_head",
    )
    expect(await readText(fs, '/a')).toBe('x')
  })

  it('refuse an unknown tool or context name', () => {
    expect(() => createToolRegistry(new MemoryFs(), { tools: ['file_haed'] })).toThrow(
      'there is no such tool',
    )
    expect(() => createToolRegistry(new MemoryFs(), { context: 'System' })).toThrow('EINVAL')
    for (const value of [undefined, null, '/src', {}])
      expect(() => createToolRegistry(value as unknown as MemoryFs)).toThrow(
        /^EINVAL: the value is not a file system; pass one/,
      )
  })

  it("reject only on abort, with the signal's reason", async () => {
    const tools = createToolRegistry(new MemoryFs({ '/a': 'x' }))
    const reason = new Error('enough')
    const signal = AbortSignal.abort(reason)
    await expect(tools.call('file_head', { path: 'vfs:///a' }, { signal })).rejects.toBe(reason)
    const during = new AbortController()
    const call = tools.call('file_head', { path: 'vfs:///a' }, { signal: during.signal })
    during.abort(reason)
    await expect(call).rejects.toBe(reason)
  })

  it('report progress', async () => {
    const tools = createToolRegistry(new MemoryFs({ '/a': 'x\n'.repeat(200_000) }))
    const reports: unknown[] = []
    await tools.call(
      'file_grep',
      { path: 'vfs:///a', pattern: 'y' },
      { progress: (...far) => reports.push(far) },
    )
    expect(reports.length).toBeGreaterThan(2)
    expect(reports.at(-1)).toEqual([400_000, 400_000])
  })
})

describe('arguments', () => {
  const tools = createToolRegistry(new MemoryFs({ '/a': 'x' }))

  it.each<[string, unknown, string]>([
    ['file_head', undefined, "file_head: 'path' is missing"],
    ['file_head', null, 'must be a JSON object with path, lines, not null'],
    ['file_head', '{"path":"vfs:///a"}', 'must be a JSON object'],
    ['file_head', ['vfs:///a'], 'must be a JSON object'],
    ['file_head', { path: 7 }, "'path': expected string, received number; given: 7"],
    [
      'file_head',
      { path: 'vfs:///a', lines: '10' },
      `'lines': expected number, received string; given: "10"`,
    ],
    ['file_head', { path: 'vfs:///a', lines: 0 }, "'lines': must be 1 or more; given: 0"],
    ['file_head', { path: 'vfs:///a', lines: 1.5 }, "'lines': expected int"],
    ['file_head', { file_path: 'vfs:///a' }, "there is no argument 'file_path': it is called 'path' here"],
    ['file_head', { filePath: 'vfs:///a' }, "it is called 'path' here"],
    ['file_head', { uri: 'vfs:///a' }, "it is called 'path' here; file_head takes path, lines"],
    ['file_head', { pth: 'vfs:///a' }, "it is called 'path' here"],
    ['vfs_list', { pth: 'vfs:///a' }, "it is called 'path' here"],
    ['vfs_copy', { source: 'a', destination: 'b' }, "'source': it is called 'src' here"],
    ['vfs_copy', { source: 'a', destination: 'b' }, "'destination': it is called 'dst' here"],
    ['file_edit', { path: 'a', old_string: 'x' }, "'old_string': it is called 'find' here"],
    ['file_edit', { path: 'a', operation: 'x' }, "'operation': expected one of"],
    ['file_head', { path: 'vfs:///a', zzz: 1 }, "there is no argument 'zzz'; file_head takes path, lines"],
    ['file_head', { path: 'vfs:///a', __proto__x: 1 }, "there is no argument '__proto__x'"],
  ])('%s %j: %s', async (name, args, message) => {
    expect(await failureOf(tools, name, args)).toContain(message)
  })

  const deep = () => {
    let value: unknown = 'x'
    for (let level = 0; level < 100_000; level++) value = [value]
    return value
  }
  const cyclic: { path?: unknown } = {}
  cyclic.path = cyclic
  const throwing = {
    get path(): string {
      throw Object.create(null)
    },
  }

  it.each<[string, () => unknown, string]>([
    [
      'nested very deep',
      () => ({ path: deep() }),
      "'path': expected string, received array; given: an array of 1",
    ],
    ['an array nested very deep', deep, 'must be a JSON object with path, lines, not an array of 1'],
    ['a BigInt', () => 10n, 'must be a JSON object with path, lines, not 10'],
    ['with a BigInt', () => ({ path: 10n }), 'given: 10'],
    ['with a symbol', () => ({ path: Symbol('s') }), 'given: Symbol(s)'],
    ['cyclic', () => cyclic, 'given: an object'],
    ['that throw when they are read', () => throwing, 'the arguments cannot be read; give a JSON object'],
  ])('%s are refused like any other', async (_, args, message) => {
    const refused = await failureOf(tools, 'file_head', args())
    expect(refused).toMatch(/^EINVAL: file_head: /)
    expect(refused).toContain(message)
  })

  it('beyond any limit are refused with a short message', async () => {
    const many = Object.fromEntries(Array.from({ length: 100_000 }, (_, index) => [`k${index}`, 1]))
    const refused = await failureOf(tools, 'file_head', { path: 'vfs:///a', ...many })
    expect(refused).toContain("there is no argument 'k0'")
    expect(refused).toContain('and 99997 more unknown arguments')
    expect(refused.length).toBeLessThan(1000)
    const long = '😀'.repeat(1_000_000)
    for (const args of [
      { path: 'vfs:///a', [long]: 1 },
      { path: 'vfs:///a', lines: `x${long}` },
    ]) {
      const failure = await failureOf(tools, 'file_head', args)
      expect(failure.length).toBeLessThan(300)
      expect(failure.isWellFormed()).toBe(true)
    }
    for (const path of [`vfs:///${long}`, `vfs://${long}`, long, `/${long}`]) {
      expect((await failureOf(tools, 'file_head', { path })).length).toBeLessThan(2100)
    }
    expect((await failureOf(tools, long, {})).length).toBeLessThan(1000)
  })

  it('that start with a hyphen are plain values', async () => {
    const fs = new MemoryFs()
    const result = await createToolRegistry(fs).call('write_file', { path: 'vfs:///-rf', content: '--help' })
    expect(result.isError).toBe(false)
    expect(await readText(fs, '/-rf')).toBe('--help')
    const found = await createToolRegistry(fs).call('file_grep', { path: 'vfs:///', pattern: '--help' })
    expect(found.text).toContain('> 1: --help')
  })
})

describe('the output of a tool', () => {
  const long = Array.from({ length: 1000 }, (_, index) => `line ${index}`).join('\n')

  const search = { path: 'vfs:///long.txt', pattern: 'line', context_before: 0, context_after: 0 }

  it('is cached if it is long, and the caller gets a stub', async () => {
    const tools = createToolRegistry(new MemoryFs({ '/long.txt': long }), { context: 'anna' })
    const { text, cached } = await tools.call('file_grep', search)
    expect(text.length).toBeGreaterThan(2000)
    expect(text.length).toBeLessThan(3000)
    expect(text).toContain(cached?.uri)
    expect(cached?.uri).toMatch(/^vfs:\/\/\/sys\/tool_cache\/anna\/file_grep_/)
    const whole = await tools.call('file_read', { path: cached?.uri, numbered: false })
    expect(whole).toMatchObject({ text: expect.stringMatching(/^1000 matching lines\n.*> 1000: line 999$/s) })
  })

  it('is not cached again for a read of the cache, but cut if far too long', async () => {
    const tools = createToolRegistry(new MemoryFs({ '/long.txt': long.repeat(10) }))
    const { cached } = await tools.call('file_grep', search)
    const look = await tools.call('file_grep', { ...search, path: cached?.uri })
    expect(look.cached).toBeUndefined()
    expect(look.text).toContain('ask for fewer lines')
    expect(look.text.length).toBeLessThan(41_000)
    const entries = await tools.call('vfs_list', { path: 'vfs:///sys/tool_cache/agent' })
    expect(entries.text.split('\n')).toHaveLength(1)
  })

  it('is returned in full without a cache, and errors always are', async () => {
    const fs = new MemoryFs({ '/long.txt': long })
    const plain = await createToolRegistry({ fs }).call('file_grep', search)
    expect(plain.text.length).toBeGreaterThan(long.length)
    const tools = createToolRegistry({ fs, cache: new OutputCache(fs, { threshold: 10 }) })
    const missing = await tools.call('file_head', { path: 'vfs:///missing.txt' })
    expect(missing.text).toBe("ENOENT: no such file or directory, stat 'vfs:///missing.txt'")
    expect(await fs.exists('/sys')).toBe(false)
  })

  it('can be read by every context with tools on the same file system', async () => {
    const fs = new MemoryFs({ '/long.txt': long })
    const { cached } = await createToolRegistry(fs, { context: 'anna' }).call('file_grep', search)
    const look = await createToolRegistry(fs, { context: 'ben' }).call('file_tail', {
      path: cached?.uri,
      lines: 1,
    })
    expect(look.text).toBe('> 1000: line 999')
  })
})
