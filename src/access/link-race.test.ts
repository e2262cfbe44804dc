import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { HostFs } from '../backends/host/index.ts'
import { openHome } from '../backends/vault/index.ts'
import {
  type CallContext,
  type FileSystem,
  isRenamable,
  isVfsError,
  type Linkable,
  MemoryFs,
  OverlayFs,
  type RealpathOptions,
  readText,
} from '../vfs/index.ts'
import { contextCaller, type GuardedFs, guard, zonePolicy } from './index.ts'

const alice: CallContext = { caller: contextCaller('alice') }
const mallory: CallContext = { caller: contextCaller('mallory') }

const scratch = mkdtempSync(join(tmpdir(), 'coppice-link-race-'))
afterAll(() => rmSync(scratch, { recursive: true, force: true }))

type LinkableFs = FileSystem & Linkable

const namespaces: Readonly<Record<string, () => Promise<LinkableFs>>> = {
  memory: async () => new MemoryFs(),
  'a vault': async () => (await openHome()).createVault('zones'),
  'an overlay': async () => new OverlayFs(new MemoryFs({ '/shared/d/old': 'x' })),
  'a directory of this machine': async () => new HostFs(mkdtempSync(join(scratch, 'root-'))),
}

/** The same file system, where somebody swaps `/shared/d` for a link right after a path in it was looked up. */
function swappedAfterLookUp(fs: LinkableFs, target = '../home/bob'): LinkableFs {
  let isSwapped = false
  const realpath = async (path: string, options?: RealpathOptions, ctx?: CallContext) => {
    const real = await fs.realpath(path, options, ctx)
    if (path.startsWith('/shared/d/') && !isSwapped) {
      isSwapped = true
      await swapped(fs, target)
    }
    return real
  }
  return new Proxy(fs, {
    get(target, property) {
      const member: unknown = Reflect.get(target, property, target)
      if (property === 'realpath') return realpath
      return typeof member === 'function' ? member.bind(target) : member
    },
  })
}

async function swapped(fs: LinkableFs, target: string): Promise<void> {
  await fs.remove('/shared/d', { recursive: true })
  await fs.symlink(target, '/shared/d')
}

async function expectBobUntouched(fs: FileSystem): Promise<void> {
  const paths = await Array.fromAsync(fs.walk('/home', { includeDirs: true }), ({ path }) => path)
  expect(paths).toEqual(['/home/bob', '/home/bob/f'])
  expect(await readText(fs, '/home/bob/f')).toBe('of bob')
}

/** Every change below `/shared/d`, which is a directory when it is asked for and a link when it is made. */
const changes: Readonly<Record<string, (fs: GuardedFs) => Promise<unknown>>> = {
  write: (fs) => fs.write('/shared/d/f', 'stolen', {}, alice),
  'write of a stream': (fs) => fs.write('/shared/d/f', streamed('stolen'), {}, alice),
  'conditional write': (fs) => fs.write('/shared/d/new', 'stolen', { ifMatch: null }, alice),
  append: (fs) => fs.append('/shared/d/f', 'stolen', alice),
  mkdir: (fs) => fs.mkdir('/shared/d/made', { parents: true }, alice),
  remove: (fs) => fs.remove('/shared/d/f', {}, alice),
  symlink: (fs) => fs.symlink('f', '/shared/d/link', alice),
  'rename out': (fs) => fs.rename('/shared/d/f', '/shared/taken', {}, alice),
  'rename in': (fs) => fs.rename('/shared/own', '/shared/d/planted', { overwrite: true }, alice),
}

async function* streamed(text: string): AsyncGenerator<string> {
  yield text
}

describe.each(Object.entries(namespaces))('a link that is swapped in before a change, on %s', (_, open) => {
  const opened = async (): Promise<LinkableFs> => {
    const fs = await open()
    for (const path of ['/shared/d/f', '/shared/own']) await fs.write(path, 'x')
    await fs.write('/home/bob/f', 'of bob')
    return fs
  }

  it.each(Object.entries(changes))('does not lead elsewhere: %s', async (name, change) => {
    const below = await opened()
    if (name.startsWith('rename') && !isRenamable(below)) return
    const fs = guard(swappedAfterLookUp(below), [zonePolicy()])
    await expect(change(fs)).rejects.toMatchObject({ code: expect.stringMatching(/EACCES|ELOOP/) })
    await expectBobUntouched(below)
  })

  it('is checked again, and followed if that is allowed', async () => {
    const below = await opened()
    await below.write('/shared/e/f', 'x')
    const fs = guard(swappedAfterLookUp(below, '../shared/e'), [zonePolicy()])
    await fs.write('/shared/d/f', 'mine', {}, alice)
    expect(await readText(below, '/shared/e/f')).toBe('mine')
  })
})

describe('a link that keeps changing', () => {
  it('does not make a change retry forever', async () => {
    class Restless extends MemoryFs {
      override async realpath(): Promise<string> {
        return '/shared/link'
      }
    }
    const below = new Restless()
    await below.symlink('other', '/shared/link')
    const fs = guard(below, [zonePolicy()])
    await expect(fs.write('/shared/link', 'x', {}, alice)).rejects.toMatchObject({ code: 'ELOOP' })
    expect(await below.exists('/shared/other')).toBe(false)
  })
})

const ROUNDS = 30

describe.each(Object.entries(namespaces))(
  'a context that keeps swapping a directory for a link, on %s',
  (_, open) => {
    it('never lets a context change the home of another', async () => {
      const below = await open()
      await below.write('/home/bob/f', 'of bob')
      const fs = guard(below, [zonePolicy()])
      await Promise.all([
        ...[1, 2].map(() => repeated(() => swap(fs))),
        ...Object.values(changes).map((change) => repeated(() => tolerated(change(fs)))),
      ])
      await expectBobUntouched(below)
    })
  },
)

async function swap(fs: GuardedFs): Promise<void> {
  await tolerated(fs.remove('/shared/d', { recursive: true }, mallory))
  await tolerated(fs.symlink('/home/bob', '/shared/d', mallory))
  await tolerated(fs.remove('/shared/d', { recursive: true }, mallory))
  await tolerated(fs.write('/shared/d/f', 'x', {}, mallory))
  await tolerated(fs.write('/shared/own', 'x', {}, mallory))
}

async function repeated(step: () => Promise<unknown>): Promise<void> {
  for (let round = 0; round < ROUNDS; round++) await step()
}

/** Who races may lose, but only with an error of the file system. */
async function tolerated(action: Promise<unknown>): Promise<void> {
  try {
    await action
  } catch (error) {
    if (!isVfsError(error)) throw error
  }
}
