import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { openHome, type Vault } from '../backends/vault/index.ts'
import { diff, type FileSystem, isLinkable, isVfsError, MemoryFs, readFile } from '../vfs/index.ts'
import { formatCompletePatch, readCompletePatch } from './complete-patch.ts'
import { listFileChanges } from './file-changes.ts'
import type { TreePair } from './patch.ts'

const runs = 25 * Number(process.env['TIMES'] ?? 1)
const BYTES = Uint8Array.from({ length: 3000 }, (_, index) => (index * index + 7 * index) % 256)

describe('a complete patch, as git applies it', () => {
  it('changes, creates, deletes, renames and empties binary files', async () => {
    const patch = await expectRoundTrip(
      async (base) => {
        for (const name of ['changed', 'deleted', 'moved', 'moved and changed', 'chmod', 'emptied'])
          await base.write(`/${name}`, BYTES)
        await base.write('/empty', '')
        await base.write('/latin', Buffer.from('caf\xe9\n', 'latin1'))
      },
      async (fork) => {
        await fork.write('/changed', BYTES.toReversed())
        await fork.remove('/deleted')
        await fork.rename('/moved', '/elsewhere')
        await fork.rename('/moved and changed', '/renamed "one"')
        await fork.write('/renamed "one"', BYTES.subarray(1))
        await fork.setattr('/chmod', { mode: 0o755 })
        await fork.write('/emptied', '')
        await fork.write('/empty', Uint8Array.of(0))
        await fork.write('/latin', Buffer.from('th\xe9\n', 'latin1'))
        await fork.write('/new', BYTES, { mode: 0o755 })
        await fork.write('/text after them', 'text\r\nwithout an end')
      },
    )
    expect(patch).not.toContain('Binary files')
    // One that only moved has no content in it.
    expect(patch).toContain('rename to elsewhere\ndiff --git')
  })

  it.each(['sp ace', 'tab\tname', 'new\nline', 'ünï 🌱', 'quo"te', 'back\\slash', 'end ', '"', 'a b/a b'])(
    'has the name %j',
    async (name) => {
      await expectRoundTrip(
        async (base) => {
          await base.mkdir(dirname(`/${name}`), { parents: true })
          for (const suffix of ['', '.mode', '.gone', '.text']) await base.write(`/${name}${suffix}`, BYTES)
          await base.write(`/${name}.empty`, '')
          await base.write(`/${name}.text`, 'one\n')
        },
        async (fork) => {
          await fork.write(`/${name}`, BYTES.toReversed())
          await fork.write(`/${name}.text`, 'two\n')
          await fork.setattr(`/${name}.mode`, { mode: 0o755 })
          await fork.remove(`/${name}.gone`)
          await fork.remove(`/${name}.empty`)
          await fork.write(`/${name}.new`, '')
        },
      )
    },
  )

  it('has renames over other files, swaps, and files in place of links and directories', async () => {
    await expectRoundTrip(
      async (base) => {
        for (const name of ['a', 'b', 'one', 'two', 'over']) await base.write(`/${name}`, `of ${name}\n`)
        await base.symlink('a', '/link')
        await base.write('/directory/file', BYTES)
        await base.write('/old/f', 'of old\n')
        await base.write('/target/f', 'of target\n')
      },
      async (fork) => {
        await fork.rename('/a', '/b', { overwrite: true })
        await fork.rename('/one', '/t')
        await fork.rename('/two', '/one')
        await fork.rename('/t', '/two')
        await fork.remove('/link')
        await fork.rename('/over', '/link', { overwrite: true })
        await fork.remove('/directory', { recursive: true })
        await fork.symlink('b', '/directory')
        await fork.remove('/target', { recursive: true })
        await fork.rename('/old', '/target', { overwrite: true })
      },
    )
  })

  it('has content of several chunks, a text with a NUL far inside, and one that is too long for lines', async () => {
    const long = Buffer.alloc(17 * 1024 * 1024, 'a long line of text\n')
    await expectRoundTrip(
      async (base) => base.write('/nul', `${'text\n'.repeat(2000)}\0\nend`),
      async (fork) => {
        await fork.write('/nul', `${'text\n'.repeat(2000)}\0\n\0end`)
        await fork.write('/noise', createNoise(300_000))
        await fork.write('/long', long)
      },
    )
  })

  it('leads from any small tree to any other', async () => {
    const property = fc.asyncProperty(fc.array(step), fc.array(step), async (first, second) => {
      await expectRoundTrip(
        (base) => runSteps(base, first),
        (fork) => runSteps(fork, second),
      )
    })
    await fc.assert(property, { numRuns: runs })
  })
})

it('is what git diff --binary writes', async () => {
  const before = new MemoryFs({ '/del.bin': new Uint8Array(5) })
  const after = new MemoryFs()
  await after.write('/new.bin', new Uint8Array(3), { mode: 0o755 })
  expect(await formatTreePatch({ before, after })).toBe(`diff --git a/del.bin b/del.bin
deleted file mode 100644
index 40b450dd9d8187f90cf9f13a80c3ded26f8ecfd7..0000000000000000000000000000000000000000
GIT binary patch
literal 0
HcmV?d00001

literal 5
KcmZQz00IC21pom6

diff --git a/new.bin b/new.bin
new file mode 100755
index 0000000000000000000000000000000000000000..4227ca4e8736af63036e7457e2db376ddf7e5795
GIT binary patch
literal 3
KcmZQzU;qFB0{{U4

literal 0
HcmV?d00001

`)
})

it('fails with the path of a file that is too large for one string', async () => {
  const stat = { type: 'file', size: 70_000_000, mode: 0o644, mtime: new Date(0) } as const
  const trees = { before: new MemoryFs(), after: new MemoryFs() }
  await expect(
    readCompletePatch({ kind: 'added', path: '/large', after: stat }, trees, {}),
  ).rejects.toMatchObject({
    code: 'EFBIG',
    path: '/large',
    detail: 'the patch has 70000000 bytes of content; the limit with --json is 67108864; leave out --json',
  })
})

it('fails if a file changes while its patch is written', async () => {
  const before = new MemoryFs()
  const after = new MemoryFs({ '/new': Uint8Array.of(0) })
  const change = { kind: 'added', path: '/new', after: await after.stat('/new') } as const
  const patch = formatCompletePatch(change, { before, after }, {})
  await patch.next()
  await after.write('/new', Uint8Array.of(1))
  await expect(Array.fromAsync(patch)).rejects.toMatchObject({ code: 'EUNAVAILABLE', path: '/new' })
})

type Step = (tree: Vault) => Promise<unknown>

const names = fc.constantFrom('a', 'b', 'c d', 'e"f', 'g\\h', 'ü\n')
const paths = fc.oneof(
  names.map((name) => `/${name}`),
  fc.tuple(names, names).map(([directory, name]) => `/${directory}/${name}`),
)
const contents = fc.oneof(
  fc.constantFrom(
    '',
    'one\n',
    'one\ntwo\nthree\n',
    'one\r\ntwo\r\n',
    'no end',
    'one\n\ntwo',
    '\r',
    '\ufeffx\n',
  ),
  fc.array(fc.constantFrom('x\n', 'y\n', 'z\r\n', 'w'), { maxLength: 20 }).map((lines) => lines.join('')),
  fc.uint8Array({ maxLength: 200 }),
)
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.tuple(paths, contents, fc.constantFrom(0o644, 0o755)).map(
    ([path, content, mode]): Step =>
      async (tree) => {
        await tree.mkdir(dirname(path), { parents: true })
        await tree.write(path, content, { mode })
      },
  ),
  fc.tuple(paths, paths).map(
    ([from, to]): Step =>
      (tree) =>
        tree.rename(from, to, { overwrite: true }),
  ),
  paths.map(
    (path): Step =>
      (tree) =>
        tree.remove(path, { recursive: true }),
  ),
  fc.tuple(paths, fc.constantFrom(0o644, 0o755)).map(
    ([path, mode]): Step =>
      async (tree) => {
        if ((await tree.stat(path)).type === 'file') await tree.setattr(path, { mode })
      },
  ),
  // None leads to itself: git cannot look at paths below such a link.
  fc
    .tuple(paths, fc.constantFrom('b', 'none/x', 'new\nline'))
    .filter(([path, target]) => target !== 'b' || !path.endsWith('/b'))
    .map(
      ([path, target]): Step =>
        async (tree) =>
          isLinkable(tree) && tree.symlink(target, path),
    ),
)

/** Runs each step that is possible in a tree. */
async function runSteps(tree: Vault, steps: readonly Step[]): Promise<void> {
  for (const run of steps)
    await run(tree).catch((error: unknown) => {
      if (!isVfsError(error)) throw error
    })
}

/** Applies the patch of a change of a vault with git, and reverts it; returns the patch. */
async function expectRoundTrip(
  prepare: (base: Vault) => Promise<unknown>,
  change: (fork: Vault) => Promise<unknown>,
): Promise<string> {
  await using home = await openHome()
  const base = await home.createVault('base')
  await prepare(base)
  const fork = await home.fork('base', 'fork')
  await change(fork)
  const patch = await formatTreePatch({ before: base, after: fork })
  if (patch.replaceAll(/^(?:new|deleted) directory .*\n|^mode of .*\n/gm, '') === '') return patch
  const directory = mkdtempSync(join(tmpdir(), 'coppice-patch-'))
  try {
    const [old, current] = [await readTree(base), await readTree(fork)]
    writeFiles(directory, old)
    const apply = (...args: string[]) => expect(runGitApply(args, directory, patch), patch).toBe('')
    apply('--check')
    apply()
    expect(readFiles(directory), patch).toEqual(current)
    apply('-R')
    expect(readFiles(directory), patch).toEqual(old)
    return patch
  } finally {
    rmSync(directory, { recursive: true })
  }
}

/** Returns the messages of git apply. */
function runGitApply(args: readonly string[], cwd: string, input: string): string {
  return spawnSync('git', ['apply', '--whitespace=nowarn', ...args], { cwd, input, encoding: 'utf8' }).stderr
}

async function formatTreePatch(trees: TreePair): Promise<string> {
  let patch = ''
  for await (const change of listFileChanges(diff(trees.before, trees.after), trees, {}))
    for await (const text of formatCompletePatch(change, trees, {})) patch += text
  return patch
}

/** Content and mode of each file and link, by its path. */
type Contents = Record<string, string>

async function readTree(tree: FileSystem): Promise<Contents> {
  const contents: Contents = {}
  for await (const { path, stat } of tree.walk('/')) {
    if (stat.type === 'symlink' && isLinkable(tree)) contents[path] = `link ${await tree.readlink(path)}`
    else contents[path] = formatFile(stat.mode ?? 0, await readFile(tree, path))
  }
  return contents
}

function formatFile(mode: number, content: Uint8Array): string {
  return `${(mode & 0o100) === 0 ? 'file' : 'program'} ${Buffer.from(content).toString('latin1')}`
}

function writeFiles(directory: string, contents: Contents): void {
  for (const [name, content] of Object.entries(contents)) {
    const path = join(directory, name)
    mkdirSync(dirname(path), { recursive: true })
    const [kind = ''] = content.split(' ', 1)
    const text = content.slice(kind.length + 1)
    if (kind === 'link') symlinkSync(text, path)
    else writeFileSync(path, Buffer.from(text, 'latin1'))
    if (kind === 'program') chmodSync(path, 0o755)
  }
}

function readFiles(directory: string, below = '/'): Contents {
  const contents: Contents = {}
  for (const entry of readdirSync(join(directory, below), { withFileTypes: true })) {
    const name = join(below, entry.name)
    const path = join(directory, name)
    if (entry.isDirectory()) Object.assign(contents, readFiles(directory, name))
    else if (entry.isSymbolicLink()) contents[name] = `link ${readlinkSync(path)}`
    else contents[name] = formatFile(lstatSync(path).mode, readFileSync(path))
  }
  return contents
}

/** Returns bytes that do not compress. */
function createNoise(size: number): Uint8Array {
  let state = 1
  return Uint8Array.from({ length: size }, () => {
    state = (state * 48_271) % 2_147_483_647
    return state % 256
  })
}
