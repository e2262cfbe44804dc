import { describe, expect, it } from 'vitest'
import { guard, type Policy } from '../../access/index.ts'
import {
  type DeviceContext,
  DeviceRegistry,
  O_RDONLY,
  O_RDWR,
  readAllText,
  sendDeviceRequest,
} from '../../kernel/index.ts'
import { OutputCache, type ToolNamespace } from '../../tools/index.ts'
import { type CallContext, type FileSystem, MemoryFs, readText } from '../../vfs/index.ts'
import { fsDevice } from './index.ts'

const files = {
  '/workspace/src/main.ts': 'const one = 1\nconst two = 2\n',
  '/workspace/notes.md': 'hello\n',
  '/secret/key': 'do not tell\n',
  '/shared/.keep': '',
}

const closedPolicy: Policy = {
  name: 'closed',
  judges: 'everything',
  judge: ({ path }) => (path.startsWith('/secret') ? 'it is closed' : null),
}

function surroundings(
  fs: FileSystem = new MemoryFs(files),
  changed: Partial<DeviceContext> = {},
  namespace?: ToolNamespace,
) {
  const devices = new DeviceRegistry()
  devices.register('/dev/fs', fsDevice({ findNamespace: () => namespace }))
  const ctx: DeviceContext = {
    pid: 7,
    caller: { kind: 'process', pid: 7, context: 'coder' },
    fs,
    signal: new AbortController().signal,
    ...changed,
  }
  const read = async (path: string) => readAllText(await devices.open(path, O_RDONLY, ctx))
  const ask = async (path: string, body: unknown) =>
    sendDeviceRequest(await devices.open(path, O_RDWR, ctx), body)
  const call = (name: string, args: Record<string, unknown>) => {
    const found = devices.listTools(null).find(({ tool }) => tool.name === name)
    if (found === undefined) throw new Error(`no tool ${name}`)
    const { subpath, body } = found.tool.request(args)
    return ask(`${found.root}${subpath}`, body)
  }
  return { devices, ctx, fs, read, ask, call }
}

describe('fsDevice', () => {
  it('returns the unchanged content of a workspace file', async () => {
    const { read } = surroundings()
    expect(await read('/dev/fs/src/main.ts')).toBe(files['/workspace/src/main.ts'])
  })

  it('writes content to the file at its path', async () => {
    const { ask, fs } = surroundings()
    expect(await ask('/dev/fs/new/file.txt', { content: 'made' })).toMatch(
      /^made vfs:\/\/\/workspace\/new\/file/,
    )
    expect(await readText(fs, '/workspace/new/file.txt')).toBe('made')
  })

  it('lists, searches, finds and edits', async () => {
    const { ask, fs } = surroundings()
    expect(await ask('/dev/fs', { op: 'list' })).toBe('notes.md\nsrc/')
    expect(await ask('/dev/fs', { op: 'glob', pattern: '**/*.ts' })).toBe('vfs:///workspace/src/main.ts')
    expect(await ask('/dev/fs/src', { op: 'grep', pattern: 'two' })).toContain('main.ts')
    await ask('/dev/fs/notes.md', { op: 'edit', operation: 'replace_string', find: 'hello', replace: 'bye' })
    expect(await readText(fs, '/workspace/notes.md')).toBe('bye\n')
  })

  it('says that there is no workspace, and what to use in its place', async () => {
    const { call } = surroundings(new MemoryFs({ '/shared/notes.md': 'x' }))
    for (const args of [{ pattern: '**/*.ts' }, { pattern: '*', path: 'src' }])
      await expect(call('file_glob', args)).rejects.toThrow(
        /^ENOENT: this process has no workspace, because .* vfs:\/\/\/shared or vfs:\/\/\/home\/coder, or .*--vault/,
      )
    expect(await call('file_glob', { pattern: '*', path: 'vfs:///shared' })).toBe('vfs:///shared/notes.md')
    await expect(call('file_read', { path: 'vfs:///shared/none' })).rejects.toThrow(/no such file/)
  })

  it.each(['src/main.ts', '/workspace/src/main.ts', 'vfs:///workspace/src/main.ts'])(
    'accepts the path %s of a tool call',
    async (path) => {
      const { call } = surroundings()
      expect(await call('file_read', { path })).toContain('const two = 2')
    },
  )

  it.each(['/shared/plan.md', 'vfs:///shared/plan.md'])('reaches the zone of %s', async (path) => {
    const { call, fs } = surroundings()
    await call('write_file', { path, content: 'one\n' })
    expect(await readText(fs, '/shared/plan.md')).toBe('one\n')
    await call('vfs_copy', { src: path, dst: 'plan.md' })
    expect(await readText(fs, '/workspace/plan.md')).toBe('one\n')
  })

  it('takes a path whose first name is not in the namespace for one of the workspace', async () => {
    const { call } = surroundings()
    expect(await call('file_read', { path: '/src/main.ts' })).toContain('const two = 2')
  })

  it('refuses a relative path that leaves the workspace', async () => {
    const { call } = surroundings()
    await expect(call('file_read', { path: '../secret/key' })).rejects.toMatchObject({ code: 'EACCES' })
    await expect(call('vfs_copy', { src: 'notes.md', dst: '../notes.md' })).rejects.toMatchObject({
      code: 'EACCES',
    })
  })

  it('stores a long output in the cache of the namespace and returns a stub', async () => {
    const long = Array.from({ length: 900 }, (_, line) => `match ${line}`).join('\n')
    const fs = new MemoryFs({ '/workspace/long.txt': long })
    const { call } = surroundings(fs, {}, { fs, cache: new OutputCache(fs) })
    const stub = await call('file_grep', { path: 'long.txt', pattern: 'match' })
    expect(stub.length).toBeLessThan(4000)
    const [uri] = stub.match(/vfs:\/\/\/sys\/tool_cache\/coder\/\S+/) ?? []
    expect(await call('file_read', { path: uri, offset: 890, limit: 5 })).toContain('match 8')
  })

  it('refuses a path of its own that leads out of the workspace', async () => {
    const { devices, ctx } = surroundings()
    const device = fsDevice()
    expect(() => device.open('/../secret/key', O_RDONLY, ctx)).toThrow(
      expect.objectContaining({ code: 'EINVAL' }),
    )
    await expect(devices.open('/dev/fs/../secret', O_RDONLY, ctx)).rejects.toMatchObject({ code: 'EINVAL' })
  })

  it('leaves links out of the workspace to the guard', async () => {
    const fs = new MemoryFs(files)
    await fs.symlink('/secret/key', '/workspace/link')
    const { read, ask } = surroundings(guard(fs, [closedPolicy]))
    await expect(read('/dev/fs/link')).rejects.toMatchObject({ code: 'EACCES' })
    await expect(ask('/dev/fs/link', { content: 'mine' })).rejects.toMatchObject({ code: 'EACCES' })
    expect(await readText(fs, '/secret/key')).toBe('do not tell\n')
  })

  it('refuses an edit of a file that changed since the process read it', async () => {
    const { call, fs } = surroundings()
    await call('file_read', { path: 'notes.md' })
    await fs.write('/workspace/notes.md', 'other\n')
    const edit = call('file_edit', { path: 'notes.md', operation: 'delete_lines', start: 1 })
    await expect(edit).rejects.toMatchObject({ code: 'ECONFLICT' })
  })

  it('acts as the process, so that guard and journal see the caller', async () => {
    const callers: CallContext['caller'][] = []
    const fs = guard(new MemoryFs(files), [
      {
        name: 'who',
        judges: 'everything',
        judge: ({ caller }) => {
          callers.push(caller)
          return null
        },
      },
    ])
    const { ask } = surroundings(fs)
    await ask('/dev/fs/a.txt', { content: 'a' })
    expect(new Set(callers.map((caller) => JSON.stringify(caller)))).toEqual(
      new Set([JSON.stringify({ kind: 'process', pid: 7, context: 'coder' })]),
    )
  })

  it('explains the format of a request it cannot parse', async () => {
    const { ask, read } = surroundings()
    await expect(ask('/dev/fs', { op: 'burn' })).rejects.toThrow(
      /'op', one of read, head, tail, lines, write, edit, list/,
    )
    await expect(read('/dev/fs/src')).rejects.toThrow(/EISDIR.*"op": "list"/)
    await expect(ask('/dev/fs/gone', { op: 'read' })).rejects.toMatchObject({ code: 'ENOENT' })
  })

  it('lists the workspace', async () => {
    const { ctx } = surroundings()
    expect(await fsDevice().list?.('', ctx)).toEqual([
      { name: 'notes.md', type: 'device' },
      { name: 'src', type: 'directory' },
    ])
    expect(await fsDevice({ root: '/none' }).list?.('', ctx)).toEqual([])
  })
})
