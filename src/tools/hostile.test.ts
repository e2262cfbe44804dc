import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { HostFs } from '../backends/host/index.ts'
import { MemoryFs, readText } from '../vfs/index.ts'
import { HostFiles } from './host/index.ts'
import { createToolRegistry } from './tool-registry.ts'

/** Valid arguments of each tool besides its path. */
const REST: Readonly<Record<string, object>> = {
  file_read: {},
  file_head: {},
  file_tail: {},
  file_lines: { start: 1, end: 1 },
  file_grep: { pattern: 'x' },
  file_glob: { pattern: '**' },
  write_file: { content: 'evil' },
  file_edit: { operation: 'replace_string', find: 'secret', replace: 'evil' },
  vfs_list: {},
  vfs_info: {},
  vfs_mkdir: {},
  vfs_delete: { recursive: true },
}

async function stateOf(fs: MemoryFs): Promise<Record<string, string>> {
  const state: Record<string, string> = {}
  for await (const { path, stat } of fs.walk('/', { includeDirs: true })) {
    state[path] = stat.type === 'file' ? await readText(fs, path) : stat.type
  }
  return state
}

describe('a hostile path', () => {
  const hostile = [
    '',
    '.',
    '..',
    'secret',
    '-rf',
    'vfs:',
    'vfs://etc/secret',
    'vfs:////etc/secret',
    'vfs:///../etc/secret',
    'vfs:///a/../etc/secret',
    'vfs:///%2e%2e/etc/secret',
    'vfs:///a%2f..%2fetc%2fsecret',
    'vfs:///etc/secret\0.txt',
    'vfs:///etc/secret%00',
    'vfs:///etc/',
    'vfs:///./etc',
    'VFS:///etc/secret',
    ' vfs:///etc/secret',
    'file:///etc/passwd',
    'https://example.com/',
    '/etc/passwd',
    '~/secret',
    'C:\\secret',
  ]

  it.each(Object.keys(REST))('is refused by %s, without side effects', async (name) => {
    const fs = new MemoryFs({ '/etc/secret': 'secret', '/a/b': '' })
    const before = await stateOf(fs)
    const tools = createToolRegistry({ fs })
    for (const path of hostile) {
      const result = await tools.call(name, { path, ...REST[name] })
      expect([path, result.isError]).toEqual([path, true])
      expect(['EINVAL', 'EACCES']).toContain(result.error?.code)
    }
    expect(await stateOf(fs)).toEqual(before)
  })

  it.each(['vfs_copy', 'vfs_move'])('is refused by %s at both ends', async (name) => {
    const fs = new MemoryFs({ '/etc/secret': 'secret', '/a/b': '' })
    const before = await stateOf(fs)
    const tools = createToolRegistry({ fs })
    for (const path of hostile) {
      expect((await tools.call(name, { src: path, dst: 'vfs:///new' })).isError).toBe(true)
      expect((await tools.call(name, { src: 'vfs:///a', dst: path })).isError).toBe(true)
    }
    expect(await stateOf(fs)).toEqual(before)
  })
})

describe('a path of this machine', () => {
  const top = mkdtempSync(join(tmpdir(), 'coppice-hostile-'))
  const allowed = join(top, 'app')
  for (const directory of ['app', 'app2']) mkdirSync(join(top, directory))
  writeFileSync(join(top, 'app2', 'secret'), 'secret')
  writeFileSync(join(allowed, 'notes.txt'), 'one\ntwo\n')
  writeFileSync(join(allowed, '.hidden'), 'two\n')
  symlinkSync(join(top, 'app2'), join(allowed, 'out'))
  const host = new HostFiles({
    allow: [allowed],
    open: (directory) => new HostFs(directory),
    hooks: { preRead: (path) => (path.endsWith('.hidden') ? 'it is hidden' : undefined) },
  })
  const tools = createToolRegistry({ fs: new MemoryFs(), host })
  afterAll(async () => {
    await host.close()
    rmSync(top, { recursive: true })
  })

  it('is read, searched and edited within the allow-list', async () => {
    const path = join(allowed, 'notes.txt')
    expect((await tools.call('file_head', { path, lines: 1 })).text).toBe('one')
    const edit = { path, operation: 'replace_string', find: 'one', replace: '1' }
    expect((await tools.call('file_edit', edit)).text).toContain(`edited ${path}`)
    expect(readFileSync(path, 'utf8')).toBe('1\ntwo\n')
  })

  it('is found by a search with its name; refused files are skipped', async () => {
    const found = await tools.call('file_grep', { path: allowed, pattern: 'tw.' })
    expect(found.text).toContain(`1 matching line in 1 file\n${join(allowed, 'notes.txt')}`)
    const refused = await tools.call('file_head', { path: join(allowed, '.hidden') })
    expect(refused.error).toMatchObject({ code: 'EACCES', path: join(allowed, '.hidden') })
  })

  it.each(['app2/secret', 'app/../app2/secret', 'app/out/secret', 'app2'])(
    '%s is refused by every tool',
    async (name) => {
      for (const [tool, rest] of Object.entries(REST)) {
        const result = await tools.call(tool, {
          path: `${top}/${name}`,
          ...rest,
        })
        expect([tool, result.isError]).toEqual([tool, true])
        expect(result.text).not.toMatch(/^secret/)
      }
      expect(readFileSync(join(top, 'app2', 'secret'), 'utf8')).toBe('secret')
    },
  )

  it('is refused by tools of the namespace', async () => {
    const result = await tools.call('vfs_delete', { path: join(allowed, 'notes.txt') })
    expect(result.text).toContain('this tool takes vfs:/// URIs only')
    expect(result.text).toContain('did you mean vfs:///')
  })
})
