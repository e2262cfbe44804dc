import { describe, expect, it } from 'vitest'
import { DEFAULT_PROTECTED_NAMES, ProtectedNames } from '../../access/index.ts'
import { fileSystemSuite } from '../../conformance/index.ts'
import { type CallContext, grep, MemoryFs, readText } from '../../vfs/index.ts'
import { HookedFs, type HostHooks } from './hooked-fs.ts'

const none = new ProtectedNames([])

fileSystemSuite(
  { describe, it },
  {
    name: 'HookedFs',
    create: (seed) =>
      new HookedFs(
        new MemoryFs(seed),
        { preRead: async () => undefined, preWrite: async () => undefined },
        none,
      ),
  },
)

function hooked(
  hooks: HostHooks,
  seed: Record<string, string> = { '/a.txt': 'old', '/secret.txt': 'SECRET' },
): HookedFs {
  return new HookedFs(new MemoryFs(seed), hooks, new ProtectedNames(DEFAULT_PROTECTED_NAMES))
}

describe('hooks', () => {
  it('refuse a read with their reason', async () => {
    const fs = hooked({ preRead: async (path) => (path.includes('secret') ? 'ask the owner' : undefined) })
    expect(await readText(fs, '/a.txt')).toBe('old')
    await expect(readText(fs, '/secret.txt')).rejects.toMatchObject({
      code: 'EACCES',
      path: '/secret.txt',
      message: expect.stringContaining('the preRead hook refuses: ask the owner'),
    })
  })

  it('also apply to a search, which skips refused files', async () => {
    const fs = hooked({ preRead: (path) => (path.includes('secret') ? 'no' : undefined) })
    const found = await Array.fromAsync(grep(fs, '/', /old|SECRET/))
    expect(found.map(({ path }) => path)).toEqual(['/a.txt'])
  })

  it.each(['write', 'mkdir', 'remove'] as const)('refuse a change, and nothing changes: %s', async (op) => {
    const inner = new MemoryFs({ '/a.txt': 'old' })
    const fs = new HookedFs(inner, { preWrite: () => 'the owner is away' }, none)
    const acts = {
      write: () => fs.write('/a.txt', 'new'),
      mkdir: () => fs.mkdir('/d'),
      remove: () => fs.remove('/a.txt'),
    }
    await expect(acts[op]()).rejects.toMatchObject({ code: 'EACCES', op })
    expect(await Array.fromAsync(inner.walk('/', { includeDirs: true }))).toHaveLength(1)
    expect(await readText(inner, '/a.txt')).toBe('old')
  })

  it('refuse by throwing', async () => {
    const fs = hooked({
      preRead: () => {
        throw new Error('broken')
      },
    })
    await expect(readText(fs, '/a.txt')).rejects.toMatchObject({
      code: 'EACCES',
      message: expect.stringContaining('the preRead hook failed: broken'),
    })
  })

  it('receive the caller, once for each file', async () => {
    const asked: unknown[] = []
    const fs = hooked({
      preRead: (path, ctx) => {
        asked.push([path, ctx?.caller])
        return undefined
      },
    })
    const ctx: CallContext = { caller: { kind: 'context', context: 'alice' } }
    await readText(fs, '/a.txt', { byteRange: [0, 1] }, ctx)
    await readText(fs, '/a.txt', undefined, ctx)
    expect(asked).toEqual([['/a.txt', ctx.caller]])
  })

  it('do not delay a call that was cancelled', async () => {
    const controller = new AbortController()
    const fs = hooked({
      preWrite: async () => {
        controller.abort(new Error('enough'))
        return undefined
      },
    })
    await expect(fs.write('/a.txt', 'new', {}, { signal: controller.signal })).rejects.toThrow('enough')
    expect(await readText(fs, '/a.txt')).toBe('old')
  })

  it('may be slow: the content stays that of the call, and no later write overtakes it', async () => {
    const gates = [Promise.withResolvers<undefined>(), Promise.withResolvers<undefined>()]
    let asked = 0
    const fs = hooked({ preWrite: () => gates[asked++]?.promise })
    const bytes = Buffer.from('first')
    const first = fs.write('/x', bytes)
    bytes.fill('!')
    const second = fs.write('/x', 'second')
    for (const gate of gates.toReversed()) gate.resolve(undefined)
    await Promise.all([first, second])
    expect(await readText(fs, '/x')).toBe('second')
    const alone = hooked({ preWrite: async () => undefined })
    const third = alone.write('/x', bytes)
    bytes.fill('?')
    await third
    expect(await readText(alone, '/x')).toBe('!!!!!')
  })
})

describe('protected names', () => {
  it('are neither written, created nor removed, whether they exist or not', async () => {
    const fs = hooked({}, { '/p/.env': 'KEY', '/p/a.txt': '' })
    const changes = [
      () => fs.write('/p/.env', 'x'),
      () => fs.write('/p/.git/hooks/pre-commit', 'x'),
      () => fs.write('/p/.GIT/Hooks/pre-commit', 'x'),
      () => fs.write('/p/.git', 'gitdir: elsewhere'),
      () => fs.write('/p/.git/modules/lib/config', 'x'),
      () => fs.write('/p/GIT~1/commondir', 'x'),
      () => fs.mkdir('/p/.ssh'),
      () => fs.remove('/p/.env'),
      () => fs.remove('/p', { recursive: true }),
    ]
    for (const change of changes) {
      await expect(change()).rejects.toMatchObject({
        code: 'EACCES',
        message: expect.stringContaining('is protected in every spelling'),
      })
    }
    expect((await Array.fromAsync(fs.walk('/', { includeDirs: true }))).map(({ path }) => path)).toEqual([
      '/p',
      '/p/.env',
      '/p/a.txt',
    ])
  })

  it('stay if their directory is removed, also as an empty directory', async () => {
    const inner = new MemoryFs({ '/p/a.txt': '' })
    await inner.mkdir('/p/.git')
    const fs = new HookedFs(inner, {}, new ProtectedNames(DEFAULT_PROTECTED_NAMES))
    await expect(fs.remove('/p', { recursive: true })).rejects.toMatchObject({ code: 'EACCES' })
    expect(await inner.exists('/p/.git')).toBe(true)
  })

  it('can be read', async () => {
    expect(await readText(hooked({}, { '/p/.env': 'KEY' }), '/p/.env')).toBe('KEY')
  })
})
