import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { asSystem, contextCaller } from '../access/index.ts'
import { HostFs } from '../backends/host/index.ts'
import { fromStorage, type StorageBackend } from '../backends/storage/index.ts'
import { openHome } from '../backends/vault/index.ts'
import { type CallContext, type FileSystem, list, MemoryFs, ReadOnlyFs, readText } from '../vfs/index.ts'
import { type NamespaceOptions, openNamespace, openZones } from './index.ts'

const alice: CallContext = { caller: contextCaller('alice') }
const bob: CallContext = { caller: contextCaller('bob') }

function scratch(config?: string): string {
  const around = mkdtempSync(join(tmpdir(), 'coppice-namespace-'))
  onTestFinished(() => rmSync(around, { recursive: true, force: true }))
  const directory = join(around, 'home')
  mkdirSync(directory)
  if (config !== undefined) writeFileSync(join(directory, 'config.toml'), config)
  return directory
}

/** Opens a home that is closed after the namespaces on it. */
async function openTestHome(...options: Parameters<typeof openHome>): ReturnType<typeof openHome> {
  const home = await openHome(...options)
  onTestFinished(() => home.close())
  return home
}

async function opened(options: Partial<NamespaceOptions> = {}) {
  const namespace = await openNamespace({ home: scratch(), context: 'alice', ...options })
  onTestFinished(() => namespace.close())
  return namespace
}

async function namesIn(fs: FileSystem, path: string): Promise<string[]> {
  return (await list(fs, path)).map(({ name }) => name)
}

const modes = [
  ['vault', '[vfs]\nbackend = "vault"\n'],
  ['local', '[vfs]\nbackend = "local"\n'],
] as const

describe.each(modes)('a namespace with zones of the kind %s', (mode, config) => {
  it('has the zones and a home of its context, and confines callers to them', async () => {
    const { fs } = await opened({ home: scratch(config) })
    expect(await namesIn(fs, '/')).toEqual(['home', 'shared', 'sys'])
    expect(await namesIn(fs, '/home')).toEqual(['alice'])
    await fs.write('/home/alice/a', 'x', {}, alice)
    await fs.write('/shared/a', 'x', {}, bob)
    await fs.write('/sys/tool_cache/alice/a', 'x', {}, asSystem)
    for (const path of ['/home/alice/b', '/sys/x', '/x', '/sharedx/a', '/home/alice2/a']) {
      await expect(fs.write(path, 'x', {}, bob)).rejects.toMatchObject({ code: 'EACCES', path })
    }
    expect(await readText(fs, '/home/alice/a', undefined, bob)).toBe('x')
  })

  it('keeps files for the next namespace, and shows them to another open one at once', async () => {
    const home = scratch(config)
    const first = await opened({ home })
    const second = await opened({ home, context: 'bob' })
    await first.fs.write('/shared/board', 'one', {}, alice)
    expect(await readText(second.fs, '/shared/board', undefined, bob)).toBe('one')
    await Promise.all([first.close(), second.close()])
    const later = await opened({ home })
    expect(await readText(later.fs, '/shared/board')).toBe('one')
    expect(await namesIn(later.fs, '/home')).toEqual(['alice', 'bob'])
  })

  it('can be opened by many at the same time', async () => {
    const home = scratch(config)
    const names = Array.from({ length: 8 }, (_, index) => `agent-${index}`)
    const all = await Promise.all(names.map((context) => opened({ home, context })))
    await Promise.all(
      all.map(({ fs, context }) =>
        fs.write(`/shared/${context}`, context, {}, { caller: contextCaller(context) }),
      ),
    )
    const [first] = all
    expect(first && (await namesIn(first.fs, '/shared'))).toEqual(names)
    expect(first && (await namesIn(first.fs, '/home'))).toEqual(names)
  })

  it('has tools that act for its context, and caches long output as configured', async () => {
    const settings = '[tools]\ntool_output_cache_threshold = 100\ntool_cache_preview_chars = 20\n'
    const namespace = await opened({ home: scratch(config + settings) })
    const { tools } = namespace.tools()
    expect(tools.map(({ name }) => name)).toContain('vfs_list')
    expect(tools.map(({ name }) => name)).not.toContain('workspace_diff')
    const long = 'a line of some length\n'.repeat(20)
    await namespace.tools().call('write_file', { path: 'vfs:///home/alice/long', content: long })
    const search = { path: 'vfs:///home/alice/long', pattern: 'some' }
    const result = await namespace.tools().call('file_grep', search)
    expect(result.cached).toMatchObject({ context: 'alice', tool: 'file_grep' })
    expect(await readText(namespace.fs, result.cached?.path ?? '')).toContain('a line of some length')
    const denied = await namespace.tools().call('write_file', { path: 'vfs:///home/bob/x', content: 'x' })
    expect(denied).toMatchObject({ isError: true, error: { code: 'EACCES' } })
  })

  it('can be managed without creating a context', async () => {
    const home = scratch(config)
    await using zones = await openZones({ home })
    expect(await zones.contexts()).toEqual([])
    expect(await zones.createContext('alice')).toBe(true)
    expect(await zones.createContext('alice')).toBe(false)
    await expect(zones.createContext('System')).rejects.toMatchObject({ code: 'EINVAL' })
    await expect(zones.createContext('Alice')).rejects.toMatchObject({ code: 'EEXIST' })
    await zones.fs.write('/home/notes', 'a file, not a context', {}, asSystem)
    await expect(zones.createContext('notes')).rejects.toMatchObject({ code: 'EEXIST' })
    expect(await zones.contexts()).toEqual(['alice'])
    expect(await zones.cache.list()).toEqual([])
  })

  it.runIf(mode === 'local')(
    'stores them as plain files, written atomically, and opens no store',
    async () => {
      const home = scratch(config)
      const { fs } = await opened({ home })
      await fs.write('/shared/plan.md', 'old\n', {}, alice)
      const broken = async function* () {
        yield 'half of'
        throw new Error('the source broke off')
      }
      await expect(fs.write('/shared/plan.md', broken(), {}, alice)).rejects.toThrow('broke off')
      expect(readFileSync(join(home, 'vfs/shared/plan.md'), 'utf8')).toBe('old\n')
      expect(readdirSync(join(home, 'vfs/shared'))).toEqual(['plan.md'])
      expect(readdirSync(home).sort()).toEqual(['config.toml', 'locks', 'tool_cache', 'vfs'])
    },
  )

  it('caches long outputs beside the zones, private to the owner, and frees cleared ones', async () => {
    const home = scratch(`${config}[tools]\ntool_cache_max_bytes = 30_000\n`)
    const { fs, cache, context } = await opened({ home })
    const kept: string[] = []
    for (const letter of 'abcd')
      kept.push((await cache.keep(context, 'tool', letter.repeat(9000))).cached?.id ?? '')
    const directory = join(home, 'tool_cache')
    expect(statSync(directory).mode & 0o777).toBe(0o700)
    const left = readdirSync(join(directory, 'alice')).sort()
    expect(left).toHaveLength(3)
    expect(left).toContain(kept.at(-1))
    await expect(fs.write('/sys/tool_cache/alice/x', 'x', {}, alice)).rejects.toMatchObject({
      code: 'EACCES',
    })
    await using zones = await openZones({ home })
    expect((await zones.cache.list()).map(({ id }) => id).sort()).toEqual(left)
    expect(await zones.cache.clear()).toBe(3)
    expect(readdirSync(join(directory, 'alice'))).toEqual([])
    expect(await namesIn(fs, '/sys')).toEqual(['tool_cache'])
  })

  it('locks each host file that it changes: in zones, mounts and allowed directories', async () => {
    const work = scratch()
    const mounts = `[mounts."/m"]\nbackend = "host"\ndirectory = "${work}"\naccess = "write"\n`
    const home = scratch(config + mounts)
    writeFileSync(join(home, 'locks'), 'in the way')
    const namespace = await opened({ home, allow: [work] })
    const write = (path: string) => namespace.tools().call('write_file', { path, content: 'x' })
    for (const path of [join(work, 'a'), 'vfs:///m/a', ...(mode === 'local' ? ['vfs:///shared/a'] : [])]) {
      expect(await write(path), path).toMatchObject({ isError: true })
    }
  })

  it.runIf(mode === 'vault')('keeps the history of zones, each change with its caller', async () => {
    const home = await openTestHome()
    const { fs } = await opened({ home })
    await fs.write('/shared/plan.md', 'x', {}, { ...alice, trace: 'call-1' })
    const zones = await home.vault('zones')
    const records = await Array.fromAsync(zones.journal())
    expect(records.at(-1)).toMatchObject({ op: 'write', caller: alice.caller, trace: 'call-1' })
    expect(records.slice(0, -1).every(({ caller }) => caller?.kind === 'system')).toBe(true)
    const before = records.length
    await opened({ home })
    expect(await Array.fromAsync(zones.journal())).toHaveLength(before)
  })
})

describe('the workspace', () => {
  it('is the named vault, writable for its context only', async () => {
    const home = await openTestHome()
    const base = await home.createVault('base')
    await base.write('/src/cart.ts', 'old\n')
    const { fs, workspace } = await opened({ home, vault: 'base' })
    await fs.write('/workspace/src/cart.ts', 'new\n', {}, alice)
    await expect(fs.write('/workspace/x', 'x', {}, bob)).rejects.toMatchObject({ code: 'EACCES' })
    await expect(fs.remove('/workspace', { recursive: true }, alice)).rejects.toMatchObject({
      code: 'EACCES',
    })
    expect(await readText(base, '/src/cart.ts')).toBe('new\n')
    expect(workspace).toMatchObject({ name: 'base', path: '/workspace' })
  })

  it('is a fork on request, created once and continued later', async () => {
    const home = await openTestHome()
    const base = await home.createVault('base')
    await base.write('/a', 'old\n')
    const first = await opened({ home, vault: 'base', fork: 'task' })
    await first.fs.write('/workspace/a', 'new\n', {}, alice)
    await first.close()
    const second = await opened({ home, vault: 'base', fork: 'task' })
    expect(await readText(second.fs, '/workspace/a')).toBe('new\n')
    expect(await readText(base, '/a')).toBe('old\n')
    const { workspace } = second
    const changes = await Array.fromAsync(workspace?.diff() ?? [])
    expect(changes).toMatchObject([{ kind: 'modified', path: '/workspace/a' }])
    expect((await Array.fromAsync(workspace?.patch() ?? [])).join('')).toContain(
      '--- a/a\n+++ b/a\n@@ -1 +1 @@\n-old\n+new\n',
    )
  })

  it('supports its whole life cycle through tools', async () => {
    const home = await openTestHome()
    await (await home.createVault('base')).write('/a', 'one\n')
    const namespace = await opened({ home, vault: 'base' })
    const tools = namespace.tools()
    const call = async (name: string, args: object) => {
      const { text, isError } = await tools.call(name, args)
      expect(isError, text).toBe(false)
      return text
    }
    await call('workspace_checkpoint', { name: 'start' })
    await call('workspace_fork', { name: 'try' })
    await (await home.vault('try')).write('/b', 'from the fork\n')
    await call('write_file', { path: 'vfs:///workspace/a', content: 'two\n' })
    expect(await call('workspace_diff', { since: 'start' })).toContain('-one\n+two')
    expect(await call('workspace_diff', { format: 'files' })).toContain('added\t/workspace/a')
    expect(await call('workspace_merge', { fork: 'try' })).toContain('added\t/workspace/b')
    expect(await call('workspace_log', {})).toContain('alice')
    await call('workspace_restore', { name: 'start' })
    expect(await namesIn(namespace.fs, '/workspace')).toEqual(['a'])
  })

  it.each([
    [{ vault: 'gone' }, 'ENOENT', /there is no vault 'gone'/],
    [{ vault: 'gone', fork: 'task' }, 'ENOENT', /there is no vault 'gone'/],
    [{ fork: 'task' }, 'EINVAL', /the fork 'task' needs a vault/],
    [{ vault: 'base', fork: 'other' }, 'EINVAL', /'other' is a vault, not a fork of 'base'/],
    [{ vault: 'base', fork: 'of-other' }, 'EINVAL', /'of-other' is a fork of 'other', not of 'base'/],
    [{ config: { vfs: { backend: 'local' } } }, 'EINVAL', /need a home on disk/],
    [{ vault: 'zones' }, 'EINVAL', /'zones' is the vault that holds the zones of all contexts/],
    [{ vault: 'zones', fork: 'task' }, 'EINVAL', /'zones' is the vault that holds the zones of all contexts/],
    [{ vault: 'base', fork: 'zones' }, 'EINVAL', /'zones' is the vault that holds the zones of all contexts/],
    [
      { vault: 'of-zones' },
      'EINVAL',
      /'of-zones' is a fork of the vault that holds the zones of all contexts/,
    ],
    [{ vault: 'boundary' }, 'EINVAL', /'boundary' is the vault that belongs to the execution boundary/],
    [
      { vault: 'base', fork: 'boundary' },
      'EINVAL',
      /belongs to the execution boundary, so it cannot be a workspace/,
    ],
    [{ vault: 'of-boundary' }, 'EINVAL', /'of-boundary' is a fork of the vault that belongs to/],
    [{ vault: 'base', fork: 'link-0123456789ab-01234567' }, 'EINVAL', /belongs to the execution boundary/],
    [{ context: 'system' }, 'EINVAL', /it is reserved/],
    [{ context: '../bob' }, 'EINVAL', /not a valid context name/],
  ] as const)('refuses %j', async (options, code, message) => {
    const home = await openTestHome()
    for (const name of ['base', 'other', 'boundary']) await home.createVault(name)
    await home.fork('other', 'of-other')
    await home.fork('boundary', 'of-boundary')
    await (await opened({ home })).close()
    await home.fork('zones', 'of-zones')
    await expect(openNamespace({ home, context: 'alice', ...options })).rejects.toMatchObject({
      code,
      message: expect.stringMatching(message),
    })
  })
})

it('refuses the name of the zones for a fork, also with plain zone files', async () => {
  const home = scratch('[vfs]\nbackend = "local"\n')
  await using store = await openHome({ path: home })
  await store.createVault('base')
  const namespace = await opened({ home, vault: 'base' })
  const forked = await namespace.tools().call('workspace_fork', { name: 'zones' })
  expect(forked).toMatchObject({ isError: true, error: { code: 'EINVAL' } })
  expect(await store.vaults()).toEqual(['base'])
})

describe('user mounts', () => {
  it('come from the configuration, and are writable only if it says so', async () => {
    const config = `[mounts."/docs"]
backend = "host"
directory = "../docs"
[mounts."/out"]
backend = "host"
directory = "../out"
access = "write"
[mounts."/tmp"]
backend = "memory"
access = "write"
[mounts."/past"]
backend = "vault"
vault = "base"
at = "start"
`
    const home = scratch(config)
    for (const directory of ['docs', 'out']) mkdirSync(join(home, '..', directory))
    writeFileSync(join(home, '../docs/guide.md'), '# Guide\n')
    await using store = await openHome({ path: home })
    const base = await store.createVault('base')
    await base.write('/a', 'old')
    await base.checkpoint('start')
    await base.write('/a', 'new')

    const { fs } = await opened({ home })
    expect(await namesIn(fs, '/')).toEqual(['docs', 'home', 'out', 'past', 'shared', 'sys', 'tmp'])
    expect(await readText(fs, '/docs/guide.md')).toBe('# Guide\n')
    expect(await readText(fs, '/past/a')).toBe('old')
    for (const path of ['/docs/x', '/past/x']) {
      await expect(fs.write(path, 'x', {}, alice)).rejects.toMatchObject({ code: 'EACCES' })
      await expect(fs.write(path, 'x', {}, asSystem)).rejects.toMatchObject({ code: 'EROFS' })
    }
    await fs.write('/out/x', 'x', {}, alice)
    expect(readFileSync(join(home, '../out/x'), 'utf8')).toBe('x')
    await fs.write('/tmp/x', 'x', {}, alice)
    await expect(fs.write('/out/x', 'x', {}, bob)).rejects.toMatchObject({ code: 'EACCES' })
  })

  it('protect names in directories wherever they are mounted', async () => {
    const config = `[host]
protect = ["*.key"]
[mounts."/proj"]
backend = "host"
directory = "../proj"
access = "write"
`
    const home = scratch(config)
    mkdirSync(join(home, '../proj/repo/.git'), { recursive: true })
    const mine = scratch()
    const { fs } = await opened({ home, mounts: { '/mine': new HostFs(mine) } })
    for (const path of ['/proj/.git/hooks/pre-commit', '/proj/a.key', '/mine/.ssh/config', '/mine/GIT~1/x']) {
      await expect(fs.write(path, 'x', {}, alice), path).rejects.toMatchObject({ code: 'EACCES', path })
    }
    await expect(fs.symlink('.git', '/proj/repo/.GIT', alice)).rejects.toMatchObject({ code: 'EACCES' })
    await expect(fs.remove('/proj/repo', { recursive: true }, alice)).rejects.toMatchObject({
      code: 'EACCES',
      message: expect.stringContaining("it contains '/proj/repo/.git'"),
    })
    await fs.write('/proj/repo/.gitignore', 'x', {}, alice)
    await fs.write('/shared/.git/config', 'x', {}, alice)
  })

  it('cannot expose the home or the zones', async () => {
    const path = scratch()
    const home = await openTestHome({ path })
    await (await opened({ home })).close()
    const open = (options: Partial<NamespaceOptions>) => openNamespace({ home, context: 'alice', ...options })
    const holds = { code: 'EINVAL', message: expect.stringContaining('is inside the home') }
    const mount = { backend: 'host', directory: path } as const
    await expect(open({ config: { mounts: { '/m': mount } } })).rejects.toMatchObject({ code: 'EACCES' })
    await expect(open({ mounts: { '/m': new HostFs(join(path, 'tool_cache')) } })).rejects.toMatchObject(
      holds,
    )
    const zones = await home.vault('zones')
    await expect(open({ mounts: { '/m': zones } })).rejects.toMatchObject({
      code: 'EINVAL',
      message: expect.stringContaining('holds the zones of all contexts'),
    })
    await using namespace = await open({ mounts: { '/z': new ReadOnlyFs(zones) } })
    expect(await namesIn(namespace.fs, '/z')).toContain('shared')
  })

  it('can be file systems of the program, also of third parties', async () => {
    const [mine, fixed] = [new MemoryFs(), new ReadOnlyFs(new MemoryFs({ '/a': 'x' }))]
    const { fs } = await opened({
      mounts: { '/mine': mine, '/fixed': fixed, '/storage': fromStorage(oneFile()) },
    })
    await fs.write('/mine/a', 'x', {}, alice)
    expect(await readText(mine, '/a')).toBe('x')
    await expect(fs.write('/fixed/a', 'y', {}, alice)).rejects.toMatchObject({ code: 'EACCES' })
    await fs.write('/storage/a', 'stored', {}, alice)
    expect(await readText(fs, '/storage/a', undefined, bob)).toBe('stored')
  })

  it.each([
    ['[mounts."/m"]\nbackend = "vault"\nvault = "gone"', ":1: there is no vault 'gone'"],
    [
      '\n[mounts."/m"]\nbackend = "vault"\nvault = "zones"\nat = "x"',
      ":2: there is no checkpoint 'x' of 'zones'",
    ],
    ['[mounts."/m"]\nbackend = "host"\ndirectory = "../gone"', ':3: there is no directory '],
    ['[host]\nallow = ["../gone"]', ':2: there is no directory '],
    ['[vfs]\nbackend = "s3"', ':2: vfs.backend must be one of vault, local, not "s3"'],
  ])('prevent opening if one fails: %j', async (config, problem) => {
    const home = scratch(config)
    await expect(openNamespace({ home, context: 'alice' })).rejects.toThrow(
      `${join(home, 'config.toml')}${problem}`,
    )
  })

  it.each([
    [{ '/': new MemoryFs() }, 'the root belongs to the zones'],
    [{ '/sys/x': new MemoryFs() }, "'/sys/x' is in /sys"],
    [{ '/a': new MemoryFs(), '/a/b': new MemoryFs() }, "'/a/b' lies inside the mount '/a'"],
    [{ '/tmp': new MemoryFs() }, "there are two mounts at '/tmp'"],
  ])('are refused if they overlap: %o', async (mounts, problem) => {
    const home = scratch('[mounts."/tmp"]\nbackend = "memory"\n')
    await expect(openNamespace({ home, context: 'alice', mounts })).rejects.toThrow(problem)
  })

  it('are refused if one is no file system, whatever its declared type', async () => {
    const mounts = JSON.parse('{"/m": "/tmp"}')
    await expect(openNamespace({ home: scratch(), context: 'alice', mounts })).rejects.toMatchObject({
      code: 'EINVAL',
      path: '/m',
    })
  })
})

describe('files of this machine', () => {
  it('are those that the configuration and the program allow', async () => {
    const [home, more, other] = [
      scratch('[host]\nallow = ["../files"]\nprotect = ["*.key"]\n'),
      scratch(),
      scratch(),
    ]
    mkdirSync(join(home, '../files'))
    const asked: string[] = []
    const hooks = { preWrite: (path: string) => void asked.push(path) }
    const namespace = await opened({ home, allow: [more], hooks })
    const write = (path: string) => namespace.tools().call('write_file', { path, content: 'x' })
    expect(await write(join(home, '../files/a'))).toMatchObject({ isError: false })
    expect(await write(join(more, 'a'))).toMatchObject({ isError: false })
    expect(asked).toHaveLength(2)
    for (const name of ['A.KEY', '.git/config', '.env']) {
      expect(await write(join(home, '../files', name)), name).toMatchObject({ isError: true })
    }
    expect(await write(join(other, 'a'))).toMatchObject({ isError: true, error: { code: 'EACCES' } })
    expect(await write(join(home, 'config.toml'))).toMatchObject({ isError: true, error: { code: 'EACCES' } })
  })
})

it('protects the default names in host files unless configured otherwise', async () => {
  const home = scratch('[host]\nallow = ["../files"]\nprotect = ["*.key"]\nprotect_usual = false\n')
  mkdirSync(join(home, '../files'))
  const namespace = await opened({ home })
  const write = (path: string) =>
    namespace.tools().call('write_file', { path: join(home, '../files', path), content: 'x' })
  expect(await write('.env')).toMatchObject({ isError: false })
  expect(await write('a.key')).toMatchObject({ isError: true })
})

it('validates a configuration of a program by the same rules', async () => {
  const open = (config: object) => openNamespace({ home: scratch(), context: 'alice', config })
  await expect(open({ vfs: { backend: 's3' } })).rejects.toThrow(
    'vfs.backend must be one of vault, local, not "s3"',
  )
  await expect(open({ mounts: { '/m': { backend: 'git' } } })).rejects.toThrow('one of host, memory, vault')
  const gone = join(scratch(), 'gone')
  const mounts = { '/m': { backend: 'host', directory: gone } }
  await expect(open({ mounts })).rejects.toMatchObject({ code: 'ENOENT' })
})

/** The smallest possible storage: one file. */
function oneFile(): StorageBackend {
  const held: Uint8Array[] = []
  const missing = () => Object.assign(new Error('nothing there'), { code: 'ENOENT' })
  const refuse = () => Promise.reject(missing())
  const bytes = async () => {
    const [only] = held
    if (only === undefined) throw missing()
    return only
  }
  return {
    read: bytes,
    write: async (_path, content) => void held.splice(0, 1, content),
    append: refuse,
    delete: async () => void held.pop(),
    list: async () => held.map(() => ({ name: 'a', kind: 'file' })),
    exists: async () => held.length > 0,
    mkdir: refuse,
    copy: refuse,
    rename: refuse,
    metadata: async () => ({ kind: 'file', size: (await bytes()).length }),
  }
}
