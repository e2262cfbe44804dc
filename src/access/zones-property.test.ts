import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { openHome } from '../backends/vault/index.ts'
import {
  type CallContext,
  copy,
  type FileSystem,
  isLinkable,
  isOpenable,
  isVfsError,
  isWithin,
  type Linkable,
  MemoryFs,
  MountTable,
  move,
  readText,
} from '../vfs/index.ts'
import { contextCaller, type GuardedFs, guard, zonePolicy } from './index.ts'

const alice: CallContext = { caller: contextCaller('alice') }
const ALICES: readonly string[] = ['/shared', '/home/alice', '/workspace']
const zones = zonePolicy([
  { root: '/workspace', writers: ['alice'] },
  { root: '/shared/team/bob', writers: ['bob'] },
])

const files = [
  '/home/alice/d/x',
  '/home/bob/d/x',
  '/shared/d/x',
  '/shared/team/bob/x',
  '/sys/tool_cache/alice/x',
  '/workspace/x',
  '/x',
]
/** Links that were there before, in and out of every zone. */
const links = [
  ['/home/bob', '/shared/l'],
  ['l/d', '/shared/d/l'],
  ['../..', '/home/alice/l'],
  ['/sys', '/home/alice/d/l'],
  ['/home/alice', '/home/bob/l'],
  ['shared/team', '/l'],
] as const

async function filled<Fs extends FileSystem>(fs: Fs): Promise<Fs> {
  for (const path of files) await fs.write(path, `at ${path}`)
  if (isLinkable(fs)) for (const [target, path] of links) await fs.symlink(target, path)
  return fs
}

const namespaces: Readonly<Record<string, () => Promise<FileSystem & Linkable>>> = {
  memory: () => filled(new MemoryFs()),
  'a vault': async () => filled(await (await openHome()).createVault('zones')),
  'a table of mounts': () =>
    filled(
      new MountTable({
        '/': new MemoryFs(),
        '/workspace': new MemoryFs(),
        '/home/alice/d': new MountTable({ '/': new MemoryFs(), '/d': new MemoryFs() }),
      }),
    ),
}

type Step = (fs: GuardedFs) => Promise<unknown>

const anyName = fc.constantFrom(
  'shared',
  'home',
  'alice',
  'bob',
  'team',
  'sys',
  'workspace',
  'd',
  'l',
  'x',
  'new',
)
const anyPath = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...files, ...links.map(([, path]) => path)) },
  {
    weight: 1,
    arbitrary: fc.constantFrom('/shared', '/home', '/home/alice', '/shared/team', '/workspace', '/'),
  },
  {
    weight: 3,
    arbitrary: fc.array(anyName, { minLength: 1, maxLength: 5 }).map((names) => `/${names.join('/')}`),
  },
)
const anyTarget = fc.oneof(
  anyPath,
  fc
    .array(fc.oneof(anyName, fc.constant('..')), { minLength: 1, maxLength: 4 })
    .map((names) => names.join('/')),
)

const anyStep: fc.Arbitrary<Step> = fc.oneof(
  anyPath.map(
    (path): Step =>
      (fs) =>
        fs.write(path, 'by alice', {}, alice),
  ),
  anyPath.map(
    (path): Step =>
      (fs) =>
        fs.write(path, streamed(), { parents: false }, alice),
  ),
  anyPath.map(
    (path): Step =>
      (fs) =>
        fs.append(path, 'by alice', alice),
  ),
  anyPath.map(
    (path): Step =>
      (fs) =>
        fs.mkdir(path, { parents: true }, alice),
  ),
  anyPath.map(
    (path): Step =>
      (fs) =>
        fs.remove(path, { recursive: true }, alice),
  ),
  anyPath.map(
    (path): Step =>
      (fs) =>
        opened(fs, path),
  ),
  fc.tuple(anyTarget, anyPath).map(
    ([target, path]): Step =>
      (fs) =>
        fs.symlink(target, path, alice),
  ),
  fc.tuple(anyPath, anyPath, fc.boolean()).map(
    ([from, to, overwrite]): Step =>
      (fs) =>
        fs.rename(from, to, { overwrite }, alice),
  ),
  fc.tuple(anyPath, anyPath).map(
    ([from, to]): Step =>
      (fs) =>
        copy(fs, from, to, { overwrite: true }, alice),
  ),
  fc.tuple(anyPath, anyPath).map(
    ([from, to]): Step =>
      (fs) =>
        move(fs, from, to, { across: true, overwrite: true }, alice),
  ),
)

async function* streamed(): AsyncGenerator<string> {
  yield 'by alice'
}

async function opened(fs: GuardedFs, path: string): Promise<void> {
  if (!isOpenable(fs)) return
  await using handle = await fs.open(path, { write: true, create: true, truncate: true }, alice)
  await handle.write(0, Buffer.from('by alice'))
}

/** Everything that is not alice's, with its content: a zone's root too, which is hers to fill but not to change. */
async function outside(fs: FileSystem & Linkable): Promise<string[]> {
  const found: string[] = []
  for await (const { path, stat } of fs.walk('/', { includeDirs: true })) {
    const isHers = ALICES.some((root) => path !== root && isWithin(path, root))
    if (isHers && !isWithin(path, '/shared/team/bob') && path !== '/shared/team') continue
    const content = stat.type === 'file' ? await readText(fs, path) : ''
    const target = stat.type === 'symlink' ? await fs.readlink(path) : ''
    found.push(`${stat.type} ${path} ${stat.mode} ${content}${target}`)
  }
  return found
}

describe.each(Object.entries(namespaces))('whatever a context does on %s', (_, open) => {
  it.each([
    ['one after another', runInOrder],
    ['all at once', runTogether],
  ] as const)('%s, everything outside its zones stays as it is', async (_way, run) => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyStep, { minLength: 1, maxLength: 12 }), async (steps) => {
        const fs = await open()
        const before = await outside(fs)
        await run(steps, guard(fs, [zones]))
        expect(await outside(fs)).toEqual(before)
      }),
      { numRuns: 150 },
    )
  })
})

async function runInOrder(steps: readonly Step[], fs: GuardedFs): Promise<void> {
  for (const step of steps) await tolerated(step(fs))
}

async function runTogether(steps: readonly Step[], fs: GuardedFs): Promise<void> {
  await Promise.all(steps.map((step) => tolerated(step(fs))))
}

async function tolerated(action: Promise<unknown>): Promise<void> {
  try {
    await action
  } catch (error) {
    if (!isVfsError(error)) throw error
  }
}
