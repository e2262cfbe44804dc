import { tracingChannel } from 'node:diagnostics_channel'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { openHome } from '../backends/vault/index.ts'
import {
  type CallContext,
  copy,
  type FileSystem,
  isAppendable,
  isLinkable,
  isOpenable,
  isRenamable,
  isWithin,
  MemoryFs,
  MountTable,
  move,
  ReadOnlyFs,
  readText,
  vfsOperations,
} from '../vfs/index.ts'
import { asSystem, contextCaller, type GuardedFs, guard, type Policy, zonePolicy } from './index.ts'

const alice: CallContext = { caller: contextCaller('alice') }
const bob: CallContext = { caller: contextCaller('bob') }
const EACCES = { code: 'EACCES' }

const seed = {
  '/shared/board': 'board',
  '/home/alice/own': 'of alice',
  '/home/bob/own': 'of bob',
  '/sys/config': 'of the system',
  '/readme': 'at the root',
}

/** Hides what is the system's. */
const secretive: Policy = {
  name: 'secretive',
  judges: 'everything',
  judge: ({ path }) => (isWithin(path, '/sys') ? 'it is secret' : null),
}

async function seeded<Fs extends FileSystem>(fs: Fs): Promise<Fs> {
  for (const [path, content] of Object.entries(seed)) await fs.write(path, content)
  return fs
}

const namespaces: Readonly<Record<string, () => Promise<FileSystem>>> = {
  memory: async () => new MemoryFs(seed),
  'a vault': async () => seeded(await (await openHome()).createVault('zones')),
  'a table': async () =>
    seeded(new MountTable({ '/': new MemoryFs(), '/home/alice': new MemoryFs(), '/ro': readOnly() })),
}

function readOnly(): FileSystem {
  return new ReadOnlyFs(new MemoryFs({ '/f': 'x' }))
}

/** Whether everything that is not alice's, nor shared, is as it was. */
async function expectOthersUntouched(fs: FileSystem): Promise<void> {
  for (const path of ['/home/bob/own', '/sys/config', '/readme'] as const) {
    expect(await readText(fs, path)).toBe(seed[path])
  }
  expect(await Array.fromAsync(fs.readdir('/home/bob'), ({ name }) => name)).toEqual(['own'])
}

describe.each(Object.entries(namespaces))('zones on %s', (_, open) => {
  const opened = async (): Promise<[GuardedFs, FileSystem]> => {
    const fs = await open()
    return [guard(fs, [zonePolicy()]), fs]
  }

  it('let a context change its own and the shared zone', async () => {
    const [fs] = await opened()
    await fs.write('/home/alice/new/file', 'x', {}, alice)
    await fs.append('/shared/board', ' more', alice)
    await fs.mkdir('/shared/d', {}, alice)
    await fs.rename('/shared/board', '/shared/d/board', {}, alice)
    await fs.remove('/home/alice/own', {}, alice)
    expect(await readText(fs, '/shared/d/board', undefined, bob)).toBe('board more')
    await fs.write('/home/carol/first', 'x', {}, { caller: contextCaller('carol') })
  })

  it('deny every change elsewhere, with what to do instead', async () => {
    const [fs, below] = await opened()
    for (const path of ['/home/bob/own', '/sys/config', '/readme', '/sharedx/f', '/home/alice2/f', '/new']) {
      const denied = {
        ...EACCES,
        path,
        message: expect.stringMatching(/'alice'.*\/shared and \/home\/alice,/),
      }
      for (const change of [
        fs.write(path, 'x', {}, alice),
        fs.write(path, 'x', { ifMatch: null }, alice),
        fs.append(path, 'x', alice),
        fs.mkdir(path, { parents: true }, alice),
        fs.remove(path, { recursive: true }, alice),
        fs.symlink('x', path, alice),
        fs.rename(path, '/shared/taken', {}, alice),
      ]) {
        await expect(change).rejects.toMatchObject(denied)
      }
      await expect(
        fs.rename('/home/alice/own', path, { overwrite: true }, alice),
        path,
      ).rejects.toMatchObject({ ...EACCES })
    }
    await expectOthersUntouched(below)
  })

  it('do not read the content of a denied write', async () => {
    const [fs] = await opened()
    let begun = false
    const content = async function* () {
      begun = true
      yield 'x'
    }
    await expect(fs.write('/sys/f', content(), {}, alice)).rejects.toMatchObject(EACCES)
    expect(begun).toBe(false)
  })

  it('let every caller read everything, and an unnamed one only read', async () => {
    const [fs] = await opened()
    for (const [path, content] of Object.entries(seed)) {
      expect(await readText(fs, path, undefined, bob)).toBe(content)
      expect(await readText(fs, path)).toBe(content)
    }
    await expect(fs.write('/shared/f', 'x')).rejects.toMatchObject(EACCES)
  })

  it('let the system do everything', async () => {
    const [fs] = await opened()
    await fs.write('/sys/config', 'new', {}, asSystem)
    await fs.write('/at-the-root', 'x', {}, asSystem)
    await fs.remove('/home/bob', { recursive: true }, asSystem)
    expect(await fs.exists('/home/bob')).toBe(false)
  })

  it('require write access to the target of a copy, and to both ends of a move', async () => {
    const [fs, below] = await opened()
    await copy(fs, '/home/bob/own', '/home/alice/copy', {}, alice)
    expect(await readText(fs, '/home/alice/copy')).toBe('of bob')
    const across = true
    await expect(copy(fs, '/home/alice/own', '/home/bob/copy', {}, alice)).rejects.toMatchObject(EACCES)
    for (const [from, to] of [
      ['/home/bob/own', '/home/alice/taken'],
      ['/home/alice/own', '/home/bob/given'],
      ['/sys/config', '/shared/config'],
    ] as const) {
      await expect(move(fs, from, to, { across }, alice)).rejects.toMatchObject(EACCES)
      expect(await fs.exists(to)).toBe(false)
    }
    await move(fs, '/home/alice/own', '/shared/given', { across }, alice)
    expect(await readText(fs, '/shared/given')).toBe('of alice')
    await expectOthersUntouched(below)
  })

  it('protect their roots', async () => {
    const [fs] = await opened()
    for (const root of ['/shared', '/home', '/home/alice', '/home/bob', '/sys', '/']) {
      await expect(fs.remove(root, { recursive: true }, alice), root).rejects.toMatchObject({
        code: expect.stringMatching(/EACCES|EINVAL/),
      })
      await expect(fs.rename(root, '/shared/moved', {}, alice), root).rejects.toMatchObject({
        code: expect.stringMatching(/EACCES|EINVAL/),
      })
      expect((await fs.stat(root)).type).toBe('directory')
    }
  })
})

describe.each(Object.entries(namespaces))('links on %s', (_, open) => {
  it('are checked at their target, for any creator and any number of links', async () => {
    const below = await open()
    const fs = guard(below, [zonePolicy()])
    if (!isLinkable(below)) throw new Error('needs links')
    await fs.symlink('/home/bob/own', '/shared/to-file', alice)
    await fs.symlink('../home/bob', '/shared/to-home', alice)
    await fs.symlink('to-home', '/shared/to-link', alice)
    await fs.symlink('/home/bob/not-yet', '/shared/dangling', alice)
    await fs.symlink('/', '/shared/root', alice)
    for (const path of [
      '/shared/to-file',
      '/shared/to-home/own',
      '/shared/to-home/new',
      '/shared/to-link/own',
      '/shared/to-link/deep/new',
      '/shared/dangling',
      '/shared/root/home/bob/own',
      '/shared/root/shared/to-home/own',
      '/shared/root/new',
    ]) {
      const denied = { ...EACCES, path, message: expect.stringContaining('the path leads to') }
      await expect(fs.write(path, 'x', {}, alice), path).rejects.toMatchObject(denied)
      await expect(fs.append(path, 'x', alice), path).rejects.toMatchObject(denied)
      await expect(fs.mkdir(path, { parents: true }, alice), path).rejects.toMatchObject(denied)
    }
    for (const path of ['/shared/to-home/own', '/shared/to-link/own', '/shared/root/sys']) {
      await expect(fs.remove(path, { recursive: true }, alice)).rejects.toMatchObject(EACCES)
      await expect(fs.rename(path, '/shared/taken', {}, alice)).rejects.toMatchObject(EACCES)
      await expect(fs.rename('/home/alice/own', path, {}, alice)).rejects.toMatchObject(EACCES)
      await expect(fs.symlink('x', `${path}-link`, alice)).rejects.toMatchObject(EACCES)
    }
    await expectOthersUntouched(below)
  })

  it('can be removed and moved themselves, and written through if the target is allowed', async () => {
    const fs = guard(await open(), [zonePolicy()])
    await fs.symlink('/home/bob', '/shared/to-home', alice)
    await fs.rename('/shared/to-home', '/shared/renamed', {}, alice)
    await fs.remove('/shared/renamed', {}, alice)
    await fs.symlink('board', '/shared/to-board', alice)
    await fs.write('/shared/to-board', 'through', {}, alice)
    expect(await readText(fs, '/shared/board')).toBe('through')
    expect(await readText(fs, '/home/bob/own')).toBe('of bob')
  })

  it('are checked at their own path as well: a link out of a zone is no way in', async () => {
    const fs = guard(await open(), [zonePolicy()])
    await fs.symlink('/shared', '/home/bob/out', bob)
    await expect(fs.write('/home/bob/out/f', 'x', {}, alice)).rejects.toMatchObject(EACCES)
    await fs.write('/home/bob/out/f', 'x', {}, bob)
    expect(await readText(fs, '/shared/f')).toBe('x')
  })

  it('that form a cycle are ELOOP', async () => {
    const fs = guard(await open(), [zonePolicy()])
    await fs.symlink('two', '/shared/one', alice)
    await fs.symlink('one', '/shared/two', alice)
    await expect(fs.write('/shared/one', 'x', {}, alice)).rejects.toMatchObject({ code: 'ELOOP' })
  })
})

describe('a guarded namespace', () => {
  it('checks mounts by their path', async () => {
    const mounted = new MemoryFs({ '/f': 'x' })
    const table = new MountTable({
      '/': new MemoryFs(seed),
      '/shared/tools': mounted,
      '/mnt/nested': new MountTable({ '/deep': new MemoryFs({ '/f': 'x' }) }),
      '/home/bob/inbox': new MountTable({ '/': new MemoryFs() }),
    })
    const fs = guard(table, [zonePolicy([{ root: '/mnt/nested/deep', writers: ['bob'] }])])
    await fs.write('/shared/tools/f', 'by alice', {}, alice)
    expect(await readText(mounted, '/f')).toBe('by alice')
    for (const path of ['/mnt/nested/deep/f', '/home/bob/inbox/f', '/mnt/f']) {
      await expect(fs.write(path, 'x', {}, alice), path).rejects.toMatchObject(EACCES)
    }
    await fs.write('/mnt/nested/deep/f', 'by bob', {}, bob)
    await expect(fs.remove('/shared/tools', { recursive: true }, alice)).rejects.toMatchObject({
      code: 'EINVAL',
    })
  })

  it('resolves links of a mount in the namespace', async () => {
    const mounted = new MemoryFs({ '/home/bob/f': 'of the mount' })
    const table = new MountTable({ '/': new MemoryFs(seed), '/shared/m': mounted })
    const fs = guard(table, [zonePolicy()])
    await fs.symlink('/home/bob', '/shared/m/absolute', alice)
    await fs.write('/shared/m/absolute/f', 'by alice', {}, alice)
    expect(await readText(mounted, '/home/bob/f')).toBe('by alice')
    await fs.symlink('/shared/m', '/shared/to-mount', alice)
    await expect(fs.write('/shared/to-mount/f', 'x', {}, alice)).rejects.toMatchObject({ code: 'EXDEV' })
    await expectOthersUntouched(table)
  })

  it('follows links in a mount although another mount has none', async () => {
    class Plain extends MemoryFs {
      override readonly capabilities = new Set(['read', 'write'] as const)
    }
    const fs = guard(new MountTable({ '/': new MemoryFs(seed), '/plain': new Plain() }), [zonePolicy()])
    await fs.symlink('/home/bob', '/shared/to-home', alice)
    await fs.symlink('board', '/shared/to-board', alice)
    await expect(fs.write('/shared/to-home/own', 'x', {}, alice)).rejects.toMatchObject(EACCES)
    await fs.write('/shared/to-board', 'through', {}, alice)
    expect(await readText(fs, '/shared/board')).toBe('through')
  })

  it('checks a handle when it is opened', async () => {
    const vault = await seeded(await (await openHome()).createVault('zones'))
    const fs = guard(vault, [zonePolicy()])
    await fs.symlink('/home/bob/own', '/shared/link', alice)
    for (const path of ['/home/bob/own', '/sys/new', '/shared/link']) {
      for (const options of [{ write: true }, { write: true, create: true }, { truncate: true }]) {
        await expect(fs.open(path, options, alice), path).rejects.toMatchObject(EACCES)
      }
    }
    await using reading = await fs.open('/home/bob/own', {}, alice)
    await expect(reading.write(0, Buffer.from('x'))).rejects.toMatchObject({ code: 'EBADF' })
    await using writing = await fs.open('/shared/board', { write: true }, alice)
    await writing.write(0, Buffer.from('B'))
    expect(await readText(fs, '/shared/board')).toBe('Board')
    expect(await readText(fs, '/home/bob/own')).toBe('of bob')
  })

  it('declares the capabilities below it except sync, and throws ENOTSUP for missing ones', async () => {
    const below = new MemoryFs(seed)
    const fs = guard(below, [zonePolicy()])
    expect(below.capabilities.difference(fs.capabilities)).toEqual(new Set(['sync']))
    expect(fs.capabilities.difference(below.capabilities)).toEqual(new Set())
    expect([isRenamable(fs), isAppendable(fs), isOpenable(fs)]).toEqual([true, true, false])
    await expect(fs.open('/shared/board', {}, alice)).rejects.toMatchObject({ code: 'ENOTSUP' })
  })

  it('treats attributes and hard links as changes, at both names and their targets', async () => {
    const fs = guard(new MemoryFs(seed), [zonePolicy()])
    await fs.setattr('/shared/board', { mode: 0o600 }, alice)
    await fs.link('/shared/board', '/home/alice/board', alice)
    expect((await fs.identity('/home/alice/board', alice)).nlink).toBe(2)
    await expect(fs.setattr('/home/bob/own', { mode: 0o666 }, alice)).rejects.toMatchObject(EACCES)
    await expect(fs.link('/home/bob/own', '/shared/taken', alice)).rejects.toMatchObject(EACCES)
    await expect(fs.link('/shared/board', '/home/bob/planted', alice)).rejects.toMatchObject(EACCES)
    await fs.symlink('/home/bob', '/shared/door', alice)
    await expect(fs.setattr('/shared/door/own', { mode: 0o666 }, alice)).rejects.toMatchObject(EACCES)
    await expect(fs.setattr('/shared/door', { mode: 0o777 }, alice)).rejects.toMatchObject(EACCES)
    await expect(fs.link('/shared/door/own', '/shared/taken', alice)).rejects.toMatchObject(EACCES)
    await expect(fs.link('/shared/board', '/shared/door/planted', alice)).rejects.toMatchObject(EACCES)
    await fs.setattr('/shared/door', { mtime: new Date(0), ofLink: true }, alice)
    expect((await fs.stat('/home/bob/own')).mode).toBe(0o644)
    expect(await fs.exists('/shared/taken')).toBe(false)
  })

  it('lets no caller create a hard link to a file that it may write and not read', async () => {
    const dropBox: Policy = {
      name: 'drop-box',
      judges: 'everything',
      judge: ({ access, path }) => (access === 'read' && path.startsWith('/in/') ? 'write only' : null),
    }
    const fs = guard(new MemoryFs({ '/in/secret': 'x' }), [dropBox])
    await expect(fs.link('/in/secret', '/mine', alice)).rejects.toMatchObject(EACCES)
    await fs.symlink('/in', '/door', alice)
    await expect(fs.link('/door/secret', '/mine', alice)).rejects.toMatchObject(EACCES)
    expect(await fs.exists('/mine', alice)).toBe(false)
  })

  it('emits one event per operation, however many calls it makes below', async () => {
    const fs = guard(new MountTable({ '/': new MemoryFs(seed) }), [zonePolicy()])
    const seen: string[] = []
    const note = (event: unknown) => void seen.push(JSON.stringify(event))
    const channels = vfsOperations.map((op) => tracingChannel(`coppice:vfs:${op}`).end)
    for (const channel of channels) channel.subscribe(note)
    await fs.symlink('board', '/shared/link', alice)
    await fs.write('/shared/link', 'x', {}, alice)
    await fs.write('/sys/f', 'x', {}, alice).catch(() => {})
    for (const channel of channels) channel.unsubscribe(note)
    expect(seen.map((event) => JSON.parse(event))).toMatchObject([
      { op: 'symlink', path: '/shared/link', caller: alice.caller },
      { op: 'write', path: '/shared/link', caller: alice.caller },
      { op: 'write', path: '/sys/f', caller: alice.caller, error: EACCES },
    ])
  })

  it('leaves a read-only mount read-only, for the system too', async () => {
    const fs = guard(new MountTable({ '/': new MemoryFs(seed), '/ro': readOnly() }), [zonePolicy()])
    await expect(fs.write('/ro/f', 'y', {}, asSystem)).rejects.toMatchObject({ code: 'EROFS' })
    await expect(fs.write('/ro/f', 'y', {}, alice)).rejects.toMatchObject(EACCES)
  })

  it('forks behind the same policies', async () => {
    const fork = guard(new MemoryFs(seed), [zonePolicy()]).fork()
    await expect(fork.write('/sys/config', 'x', {}, alice)).rejects.toMatchObject(EACCES)
    await fork.write('/shared/board', 'x', {}, alice)
  })

  it('denies if one of many policies denies', async () => {
    const fs = guard(new MemoryFs(seed), [
      zonePolicy(),
      { name: 'never', judges: 'changes', judge: ({ path }) => (path === '/shared/board' ? 'no' : null) },
    ])
    await expect(fs.write('/shared/board', 'x', {}, alice)).rejects.toMatchObject({
      code: 'EACCES',
      message: "EACCES: no, write '/shared/board'",
    })
    await expect(fs.write('/sys/f', 'x', {}, alice)).rejects.toMatchObject(EACCES)
    await fs.write('/shared/other', 'x', {}, alice)
  })

  it('stores the bytes at the time of the call, though the caller changes its buffer', async () => {
    const fs = guard(new MemoryFs(seed), [zonePolicy()])
    const bytes = Buffer.from('before')
    const writing = fs.write('/shared/f', bytes, {}, alice)
    bytes.fill('x')
    await writing
    expect(await readText(fs, '/shared/f')).toBe('before')
  })

  it('reports errors with the requested path', async () => {
    const fs = guard(new MemoryFs({ ...seed, '/shared/d/e/f': 'x' }), [zonePolicy()])
    await fs.symlink('d', '/shared/link', alice)
    await expect(fs.remove('/shared/link/e', {}, alice)).rejects.toMatchObject({
      code: 'EISDIR',
      path: '/shared/link/e',
    })
  })

  it('passes on the other operations of a vault, for checked and unchecked reads', async () => {
    for (const policy of [zonePolicy(), secretive]) {
      const vault = await seeded(await (await openHome()).createVault('zones'))
      const before = vault.fork()
      const fs = guard(vault, [policy])
      await vault.write('/shared/board', 'later')
      const versions = await Array.fromAsync(fs.versions('/shared/board', alice))
      expect(versions).toHaveLength(2)
      const old = await Array.fromAsync(fs.readVersion('/shared/board', versions[1]?.version ?? '', alice))
      expect(Buffer.concat(old).toString()).toBe('board')
      expect(await fs.hash('/shared/board', alice)).toBe(await vault.hash('/shared/board'))
      await fs.materialize({ prefix: '/shared' }, alice)
      expect(fs.diffFrom(before, alice)).toBeNull()
    }
  })

  it('omits unreadable paths from a diff and a watch', async () => {
    const below = new MemoryFs(seed)
    const fs = guard(below, [secretive])
    const before = fs.fork()
    await below.write('/sys/config', 'changed')
    await below.write('/shared/board', 'changed')
    const listChanged = async (ctx: CallContext) =>
      Array.fromAsync(fs.diffFrom(before, ctx) ?? [], ({ path }) => path)
    expect(await listChanged(alice)).toEqual(['/shared/board'])
    expect(await listChanged(asSystem)).toEqual(['/shared/board', '/sys/config'])
    await expect(fs.stat('/sys/config', alice)).rejects.toMatchObject(EACCES)
    await expect(fs.readlink('/sys/config', alice)).rejects.toMatchObject(EACCES)
    await expect(fs.realpath('/sys/config', {}, alice)).rejects.toMatchObject(EACCES)
  })

  it('reports only readable changes to a watcher', async () => {
    const vault = await seeded(await (await openHome()).createVault('zones'))
    const fs = guard(vault, [secretive])
    const changes = fs.watch('/', alice)[Symbol.asyncIterator]()
    let event: unknown
    const first = changes.next().then(({ value }) => {
      event = value
    })
    // When the watch begins is its own business, so there is something new until it has.
    for (let round = 0; event === undefined; round++) {
      await vault.write('/sys/config', `secret ${round}`)
      await vault.write('/shared/board', `board ${round}`)
      await nextTurn()
    }
    await first
    expect(event).toMatchObject({ path: '/shared/board' })
    await changes.return?.()
  })
})
