import { describe, expect, it } from 'vitest'
import { type CallContext, type Caller, MemoryFs, MountTable, readText } from '../vfs/index.ts'
import {
  asSystem,
  callerName,
  contextCaller,
  deviceWhitelistPolicy,
  getCallerContext,
  guard,
  protectedNamesPolicy,
  readOnlyPolicy,
  SYSTEM,
  zonePolicy,
} from './index.ts'

const alice: CallContext = { caller: contextCaller('alice') }
const worker: Caller = { kind: 'process', pid: 7, context: 'alice' }
const EACCES = { code: 'EACCES' }

describe('a caller', () => {
  it('has a valid context name', () => {
    for (const name of ['alice', 'A_1', 'a-b', '_', 'x'.repeat(64)]) {
      expect(getCallerContext(contextCaller(name))).toBe(name)
    }
    for (const name of [
      '',
      '-a',
      'a/b',
      '..',
      'a b',
      'système',
      'system',
      'SYSTEM',
      'SyStEm',
      'x'.repeat(65),
    ]) {
      expect(() => contextCaller(name), name).toThrow(expect.objectContaining({ code: 'EINVAL' }))
    }
  })

  it('acts for a context, or for none', () => {
    expect([getCallerContext(worker), getCallerContext(SYSTEM), getCallerContext(undefined)]).toEqual([
      'alice',
      undefined,
      undefined,
    ])
    expect([alice.caller, worker, SYSTEM, undefined].map(callerName)).toEqual([
      "'alice'",
      "process 7 of 'alice'",
      'the system',
      'a caller without a name',
    ])
  })
})

describe('the read-only policy', () => {
  const fs = () =>
    guard(new MemoryFs({ '/shared/docs/f': 'x', '/shared/docsx': 'x', '/shared/d/f': 'y' }), [
      zonePolicy(),
      readOnlyPolicy(['/shared/docs', '/shared/later/kept']),
    ])

  it('protects paths, everything below them and their parents', async () => {
    const guarded = fs()
    for (const path of ['/shared/docs', '/shared/docs/f', '/shared/docs/new/f', '/shared/later/kept/f']) {
      await expect(guarded.write(path, 'x', {}, alice), path).rejects.toMatchObject(EACCES)
    }
    await expect(guarded.remove('/shared/docs', { recursive: true }, alice)).rejects.toMatchObject(EACCES)
    // What is moved there would bring a directory of that name along.
    await guarded.write('/shared/d/kept/f', 'x', {}, alice)
    await expect(guarded.rename('/shared/d', '/shared/later', {}, alice)).rejects.toMatchObject({
      ...EACCES,
      message: expect.stringContaining('/shared/later/kept'),
    })
    await guarded.mkdir('/shared/later', {}, alice)
    await guarded.write('/shared/docsx', 'y', {}, alice)
    await guarded.write('/shared/docs/f', 'by the system', {}, asSystem)
    expect(await readText(guarded, '/shared/docs/f', undefined, alice)).toBe('by the system')
  })

  it('recognises names that a disk may treat as the same', async () => {
    for (const path of ['/shared/DOCS/f', '/shared/docs./f', '/shared/ｄｏｃｓ/f', '/shared/do\u200dcs/f']) {
      await expect(fs().write(path, 'x', {}, alice), path).rejects.toMatchObject(EACCES)
    }
  })
})

describe('protected names', () => {
  it('cannot be created, in any spelling', async () => {
    const fs = guard(new MemoryFs({ '/shared/f': 'x' }), [
      zonePolicy(),
      protectedNamesPolicy(['.git', '.Env', 'ſecret']),
    ])
    for (const name of ['.git', '.GIT', '.ｇｉｔ', '.g\u200cit', '.git.', '.env', '.ENV ', 'SECRET']) {
      const path = `/shared/d/${name}`
      await expect(fs.write(path, 'x', {}, alice), name).rejects.toMatchObject(EACCES)
      await expect(fs.write(`${path}/config`, 'x', {}, alice), name).rejects.toMatchObject(EACCES)
      await expect(fs.rename('/shared/f', path, {}, alice), name).rejects.toMatchObject(EACCES)
      await expect(fs.mkdir(path, {}, alice), name).rejects.toMatchObject(EACCES)
    }
    for (const name of ['.github', 'git', '.gitignore', '.environment']) {
      await fs.write(`/shared/d/${name}`, 'x', {}, alice)
    }
  })
})

describe('protected names of a directory', () => {
  const open = async () => {
    const mount = new MemoryFs({ '/repo/.git/config': 'x', '/repo/main.ts': 'x', '/conf/a/notes': 'x' })
    await mount.symlink('.git', '/repo/link')
    const fs = guard(new MountTable({ '/': new MemoryFs(), '/proj': mount }), [
      zonePolicy([{ root: '/proj', writers: ['alice'] }]),
      protectedNamesPolicy(
        ['.git', '/srv/app/secret', 'conf/*/key'],
        [{ root: '/proj', original: '/srv/app' }],
      ),
    ])
    return fs
  }

  it('are protected only there, by their paths on the machine, links included', async () => {
    const fs = await open()
    for (const path of ['/proj/.git/config', '/proj/secret/x', '/proj/repo/link/config', '/proj/git~1']) {
      await expect(fs.write(path, 'x', {}, alice), path).rejects.toMatchObject({
        ...EACCES,
        path,
        message: expect.stringMatching(/'alice' may not change this: '.*' is protected/),
      })
    }
    await fs.write('/proj/repo/secret', 'x', {}, alice)
    await fs.write('/shared/.git/config', 'x', {}, alice)
    await fs.write('/proj/repo/.git/config', 'by the system', {}, asSystem)
  })

  it('stay with the directory that contains them, and cannot be moved in with one', async () => {
    const fs = await open()
    const changes = [
      () => fs.remove('/proj/repo', { recursive: true }, alice),
      () => fs.rename('/proj/repo', '/proj/other', {}, alice),
      () => fs.rename('/proj/bag', '/proj/conf/bag', {}, alice),
    ]
    await fs.write('/proj/bag/key', 'x', {}, alice)
    for (const change of changes) await expect(change()).rejects.toMatchObject(EACCES)
    await fs.rename('/proj/bag', '/proj/sack', {}, alice)
    await fs.remove('/proj/sack', { recursive: true }, alice)
    await fs.rename('/proj/repo/main.ts', '/proj/main.ts', {}, alice)
    await fs.remove('/proj/repo', { recursive: true }, asSystem)
  })
})

describe('the device whitelist', () => {
  const open = () =>
    guard(
      new MountTable({
        '/': new MemoryFs({ '/shared/f': 'x' }),
        '/dev': new MemoryFs({
          '/shell': 's',
          '/fs/src/f': 'f',
          '/fsx': 'x',
          '/llm/claude': 'c',
          '/llm/other': 'o',
        }),
        '/mnt/mcp/7-tools': new MemoryFs({ '/tools': '[]' }),
        '/mnt/mcp/8-tools': new MemoryFs({ '/tools': '[]' }),
      }),
      [deviceWhitelistPolicy(['/dev/fs', '/dev/llm/claude', '/mnt/mcp/7-tools'])],
    )
  const ctx: CallContext = { caller: worker }

  it('lets a process reach its granted devices only', async () => {
    const fs = open()
    for (const path of ['/dev/fs/src/f', '/dev/llm/claude', '/mnt/mcp/7-tools/tools', '/shared/f']) {
      await readText(fs, path, undefined, ctx)
      await fs.write(path, 'x', {}, ctx)
      await fs.hash(path, ctx)
    }
    for (const path of ['/dev/shell', '/dev/fsx', '/dev/llm/other', '/mnt/mcp/8-tools/tools']) {
      const denied = {
        ...EACCES,
        path,
        message: expect.stringMatching(
          /process 7 of 'alice'.*\/dev\/fs, \/dev\/llm\/claude and \/mnt\/mcp\/7-tools/,
        ),
      }
      for (const reach of [
        readText(fs, path, undefined, ctx),
        fs.stat(path, ctx),
        fs.exists(path, ctx),
        fs.hash(path, ctx),
        fs.write(path, 'x', {}, ctx),
        fs.remove(path, {}, ctx),
      ]) {
        await expect(reach).rejects.toMatchObject(denied)
      }
    }
  })

  it('shows only granted devices in listings, walks and searches', async () => {
    const fs = open()
    const names = await Array.fromAsync(fs.readdir('/dev', ctx), ({ name }) => name)
    expect(names).toEqual(['fs', 'llm'])
    const walked = await Array.fromAsync(fs.walk('/', {}, ctx), ({ path }) => path)
    expect(walked).toEqual(['/dev/fs/src/f', '/dev/llm/claude', '/mnt/mcp/7-tools/tools', '/shared/f'])
    const found = await Array.fromAsync(fs.search('/dev', { pattern: /./ }, ctx), ({ path }) => path)
    expect(found).toEqual(['/dev/fs/src/f', '/dev/llm/claude'])
    expect(await Array.fromAsync(fs.readdir('/dev', asSystem), ({ name }) => name)).toHaveLength(4)
  })

  it('rejects writes to directories that lead to a device', async () => {
    const fs = open()
    for (const path of ['/dev', '/dev/llm', '/mnt/mcp']) {
      await expect(fs.remove(path, { recursive: true }, ctx), path).rejects.toMatchObject(EACCES)
    }
  })

  it('cannot be bypassed by a link', async () => {
    const below = new MemoryFs({ '/dev/shell': 's', '/dev/fs/f': 'f', '/shared/d/f': 'x' })
    await below.symlink('/dev/shell', '/shared/shell')
    await below.symlink('/dev', '/shared/devices')
    const fs = guard(below, [deviceWhitelistPolicy(['/dev/fs'])])
    for (const path of ['/shared/shell', '/shared/devices/shell']) {
      await expect(readText(fs, path, undefined, ctx), path).rejects.toMatchObject({ ...EACCES, path })
      await expect(fs.write(path, 'x', {}, ctx), path).rejects.toMatchObject({ ...EACCES, path })
    }
    const names = await Array.fromAsync(fs.readdir('/shared/devices', ctx), ({ name }) => name)
    expect(names).toEqual(['fs'])
    const walked = await Array.fromAsync(fs.walk('/shared/devices', {}, ctx), ({ path }) => path)
    expect(walked).toEqual(['/shared/devices/fs/f'])
  })

  it('without devices grants none', async () => {
    const fs = guard(new MemoryFs({ '/dev/null': '' }), [deviceWhitelistPolicy([])])
    await expect(fs.stat('/dev/null', ctx)).rejects.toMatchObject({
      message: expect.stringContaining('it was granted no device'),
    })
  })
})
