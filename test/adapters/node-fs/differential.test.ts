import realFs, { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type NodeFs, nodeFs } from '../../../src/adapters/node-fs/index.ts'
import { openHome } from '../../../src/backends/vault/index.ts'
import { type Capability, type FileSystem, MemoryFs } from '../../../src/vfs/index.ts'
import { type FsStep, steps, withCallbacks } from './calls.ts'
import { differsKnowingly } from './known-differences.ts'
import { outcomeOf, type Subject } from './outcome.ts'

/** The same sequences every time; `NODE_FS_RUNS=5000` searches for new ones. */
const SEARCH = process.env['NODE_FS_RUNS']
const PARAMETERS = SEARCH === undefined ? { seed: 7, numRuns: 80 } : { numRuns: Number(SEARCH) }

const step = (name: string, ...args: unknown[]): FsStep => ({ face: 'promises', name, args })
const at = (path: string) => ({ at: path })

/** Failures that long searches have found. */
const FOUND: [FsStep[]][] = [
  [[step('symlink', 'l', at('/l')), step('mkdir', at('/l'), {})]],
  [[step('symlink', 'a', at('/l')), ...[1, 2].map(() => step('cp', at('/l'), at('/a'), {}))]],
  [
    [
      step('mkdir', at('/d/sub'), { recursive: true }),
      step('symlink', 'd', at('/outer')),
      step('symlink', 'd/sub', at('/inner')),
      step('cp', at('/outer'), at('/inner'), {}),
      step('cp', at('/inner'), at('/outer'), {}),
    ],
  ],
]

async function onVault(run: (fs: FileSystem) => Promise<void>): Promise<void> {
  await using home = await openHome()
  await run(await home.createVault('v'))
}

/** The same file system without its synchronous interface. */
function withoutSync(fs: FileSystem): FileSystem {
  const left = new Set<Capability>(fs.capabilities)
  left.delete('sync')
  left.delete('open')
  return new Proxy(fs, {
    get(target, key) {
      const found: unknown = Reflect.get(target, key)
      if (key === 'capabilities') return left
      return typeof found === 'function' ? found.bind(target) : found
    },
  })
}

describe('node:fs over a file system', () => {
  it('behaves like the real one, over memory', () => compare((run) => run(new MemoryFs()), allFaces))
  it('behaves like the real one, over a vault', () => compare(onVault, allFaces))
  it('behaves like the real one, over an asynchronous file system', () =>
    compare((run) => run(withoutSync(new MemoryFs())), withoutSyncFace))
})

const allFaces = (step: FsStep): FsStep => step

function withoutSyncFace(step: FsStep): FsStep {
  if (step.face !== 'sync') return step
  return 'open' in step ? withCallbacks(step) : { ...step, face: 'callback' }
}

async function compare(
  provide: (run: (fs: FileSystem) => Promise<void>) => Promise<void>,
  adapt: (step: FsStep) => FsStep,
): Promise<void> {
  const property = fc.asyncProperty(steps, (sequence) =>
    provide(async (fs) => {
      const directory = mkdtempSync(join(tmpdir(), 'node-fs-'))
      const root = join(directory, 'root')
      mkdirSync(root)
      try {
        const real = { name: 'node:fs', fs: realFs, root }
        const ours = { name: 'ours', fs: nodeFs(fs, { umask: process.umask() }), root: '/top/root' }
        await fs.mkdir('/top', { mode: 0o700 })
        await fs.mkdir('/top/root')
        for (const step of sequence.map(adapt)) {
          if (!differsKnowingly(real, step)) await expectSame(real, ours, step)
        }
        if (existsSync(root)) expect(await treeOf(ours)).toEqual(await treeOf(real))
      } finally {
        rmSync(directory, { recursive: true, force: true })
      }
    }),
  )
  await fc.assert(property, { ...PARAMETERS, examples: FOUND })
}

async function expectSame(real: Subject, ours: Subject, step: FsStep): Promise<void> {
  const expected = await outcomeOf(real, step)
  const actual = await outcomeOf(ours, step)
  expect({ step, outcome: actual }).toEqual({ step, outcome: expected })
}

/** Lists everything below a root: kind, permissions and content of each path. */
async function treeOf({ fs, root }: { fs: NodeFs; root: string }, below = ''): Promise<string[]> {
  const lines: string[] = []
  for (const entry of await fs.promises.readdir(`${root}${below}/`, { withFileTypes: true })) {
    const path = `${below}/${entry.name}`
    const { mode } = await fs.promises.lstat(root + path)
    if (entry.isDirectory()) lines.push(`${path}/ ${mode}`, ...(await treeOf({ fs, root }, path)))
    else if (entry.isSymbolicLink())
      lines.push(
        `${path} -> ${(await fs.promises.readlink(root + path)).replace(root, '').replace(dirname(root), 'above')}`,
      )
    else lines.push(`${path} ${mode} ${await fs.promises.readFile(root + path, 'hex')}`)
  }
  return lines.sort()
}
