import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, describe, expect, it } from 'vitest'
import { MemoryEngine, StoreHome, type VaultLog } from '../../../store/index.ts'
import { Vault } from '../vault.ts'
import { type ExportOptions, type ExportReport, exportVault, importDirectory } from './index.ts'

const made: string[] = []
/** More than one thread writes. */
const MANY_FILES = 3000

afterEach(() => {
  for (const directory of made.splice(0)) rmSync(directory, { recursive: true, force: true })
})

function emptyDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'export-'))
  made.push(directory)
  return directory
}

interface Setting {
  readonly home: StoreHome
  readonly vault: Vault
  readonly log: VaultLog
  readonly give: (directory: string, options?: ExportOptions) => Promise<ExportReport>
}

async function emptyVault(): Promise<Setting> {
  const home = new StoreHome(new MemoryEngine())
  const log = await home.createVault('v')
  const give: Setting['give'] = (directory, options) => exportVault(home, 'v', directory, options)
  return { home, log, vault: new Vault(home, 'v', log), give }
}

/** Everything below a directory, by programs that go beyond the longest path of the system. */
function listDeepTree(directory: string): string {
  const list =
    "find . -mindepth 1 -printf '%P %y %m %T@ %s\\n' | sort; tar -c --sort=name --mtime=@0 . | sha256sum"
  return spawnSync('sh', ['-c', list], { cwd: directory, encoding: 'utf8' }).stdout
}

/** Everything below a directory of the machine, itself not included. */
function treeOf(directory: string, prefix = ''): Record<string, unknown> {
  return Object.assign(
    {},
    ...readdirSync(directory)
      .sort()
      .map((name) => {
        const path = join(directory, name)
        const stats = lstatSync(path)
        const about = { mode: stats.mode, mtime: Math.round(stats.mtimeMs * 1000) }
        if (stats.isSymbolicLink()) return { [prefix + name]: { target: readlinkSync(path) } }
        if (stats.isFile()) return { [prefix + name]: { ...about, bytes: readFileSync(path, 'base64') } }
        return { [prefix + name]: about, ...treeOf(path, `${prefix}${name}/`) }
      }),
  )
}

describe('an export', () => {
  // Node's own recursive mkdir would not return.
  it.each(['/proc/x', '/proc/x/y'])('refuses %s, where no directory can be created', async (directory) => {
    const { give } = await emptyVault()
    await expect(give(directory)).rejects.toMatchObject({
      code: 'ENOENT',
      path: directory,
      message: expect.stringContaining('no directory can be created there'),
    })
  })

  it('writes content, links and permissions, and times of directories after their content', async () => {
    const { vault, log, give } = await emptyVault()
    await vault.write('/a/run.sh', 'echo', { mode: 0o4755 })
    await vault.write('/a/empty', '')
    await vault.symlink('/etc/passwd', '/a/absolute')
    await vault.symlink('../../..', '/a/out')
    const mtime = { seconds: 1_000_000_000, nanos: 123_456_789 }
    const inode = log.readFiles().findByPath('/a') ?? 0
    await log.submit(() => ({ op: 'attributes', path: '/a', inode, mode: 0o511, mtime }))
    const directory = join(emptyDirectory(), 'made/on/the/way')
    expect(await give(directory)).toEqual({ files: 2, directories: 1, links: 2, bytes: 4, skipped: [] })
    expect(readFileSync(join(directory, 'a/run.sh'), 'utf8')).toBe('echo')
    expect(lstatSync(join(directory, 'a/run.sh')).mode & 0o7777).toBe(0o755)
    expect(readlinkSync(join(directory, 'a/absolute'))).toBe('/etc/passwd')
    expect(readlinkSync(join(directory, 'a/out'))).toBe('../../..')
    const { mode, mtimeNs } = lstatSync(join(directory, 'a'), { bigint: true })
    expect(mode & 0o7777n).toBe(0o511n)
    expect(Number(mtimeNs - 1_000_000_000_123_456_789n)).toBeLessThan(1000)
    chmodSync(join(directory, 'a'), 0o755)
  })

  it('writes the same into a new directory that nobody uses yet, and refuses one that exists', async () => {
    const { vault, give } = await emptyVault()
    await vault.write('/a/run.sh', 'echo', { mode: 0o4775 })
    await vault.write('/a/closed', 'x', { mode: 0o400 })
    await vault.write('/large', Buffer.alloc(3_000_000, 'x'), { mode: 0o666 })
    await vault.symlink('a/closed', '/link')
    const [plain, filled] = [join(emptyDirectory(), 'plain'), join(emptyDirectory(), 'filled')]
    expect(await give(filled, { isNew: true })).toEqual(await give(plain))
    expect(treeOf(filled)).toEqual(treeOf(plain))
    await expect(give(filled, { isNew: true })).rejects.toMatchObject({ code: 'EEXIST', path: filled })
  })

  it('writes the same into a new directory by several threads', async () => {
    const { vault, give, log } = await emptyVault()
    for (let number = 0; number < MANY_FILES; number++) {
      const path = `/d${number % 7}/d${number % 5}/f${number}`
      await vault.write(path, `${number}`.repeat(number % 300), { mode: number % 3 === 0 ? 0o600 : 0o755 })
    }
    await vault.write('/d1/large', Buffer.alloc(700_000, 'x'))
    const deep = `/d6${`/${'long'.repeat(60)}`.repeat(18)}/file`
    await vault.write(deep, 'far below')
    for (const path of ['/d1/d1', '/d1', '/d6', '/d3']) {
      const inode = log.readFiles().findByPath(path) ?? 0
      const mtime = { seconds: 1_000_000_000, nanos: inode }
      await log.submit(() => ({ op: 'attributes', path, inode, mode: 0o511, mtime }))
    }
    const [plain, filled] = [join(emptyDirectory(), 'plain'), join(emptyDirectory(), 'filled')]
    expect(await give(filled, { isNew: true })).toEqual(await give(plain))
    expect(listDeepTree(filled)).toBe(listDeepTree(plain))
    for (const tree of [plain, filled]) spawnSync('chmod', ['-R', 'u+w', tree])
  })

  it('fails with the path of a file that a thread cannot write', async () => {
    const { vault, give } = await emptyVault()
    for (let number = 0; number < MANY_FILES; number++) await vault.write(`/f${number}`, 'x')
    const filled = join(emptyDirectory(), 'filled')
    // Names are written in their order.
    const onProgress = () => void mkdirSync(join(filled, 'f999'), { recursive: true })
    await expect(give(filled, { isNew: true, onProgress })).rejects.toMatchObject({
      code: 'EEXIST',
      path: join(filled, 'f999'),
    })
  })

  it('exports a checkpoint, a directory, a file or a link', async () => {
    const { vault, give } = await emptyVault()
    await vault.write('/d/f', 'old')
    await vault.symlink('f', '/d/l')
    await vault.checkpoint('before')
    await vault.write('/d/f', 'new')
    const directory = emptyDirectory()
    await give(join(directory, 'at'), { at: 'before' })
    await give(join(directory, 'sub'), { path: '/d' })
    await give(join(directory, 'file'), { path: '/d/f' })
    await give(join(directory, 'link'), { path: '/d/l' })
    expect(readFileSync(join(directory, 'at/d/f'), 'utf8')).toBe('old')
    expect(readFileSync(join(directory, 'sub/f'), 'utf8')).toBe('new')
    expect(readdirSync(join(directory, 'file'))).toEqual(['f'])
    expect(readlinkSync(join(directory, 'link/l'))).toBe('f')
    await expect(give(directory, { path: '/missing' })).rejects.toMatchObject({ code: 'ENOENT' })
    await expect(give(directory, { at: 'never' })).rejects.toMatchObject({ code: 'ENOENT' })
  })

  it('does not replace a file unless overwrite is set, and then writes nothing', async () => {
    const { vault, give } = await emptyVault()
    await vault.write('/a', 'new')
    await vault.write('/b/c', 'new')
    await vault.symlink('new', '/l')
    const directory = emptyDirectory()
    mkdirSync(join(directory, 'b'))
    writeFileSync(join(directory, 'b/c'), 'mine')
    writeFileSync(join(directory, 'b/other'), 'mine')
    await expect(give(directory)).rejects.toMatchObject({ code: 'EEXIST', path: join(directory, 'b/c') })
    expect(existsSync(join(directory, 'a'))).toBe(false)
    symlinkSync('old', join(directory, 'l'))
    await give(directory, { overwrite: true })
    expect(readFileSync(join(directory, 'b/c'), 'utf8')).toBe('new')
    expect(readFileSync(join(directory, 'b/other'), 'utf8')).toBe('mine')
    expect(readlinkSync(join(directory, 'l'))).toBe('new')
  })

  it.each([false, true])('never follows a link of the target (overwrite: %s)', async (overwrite) => {
    const { vault, give } = await emptyVault()
    await vault.write('/d/f', 'new')
    const outside = emptyDirectory()
    writeFileSync(join(outside, 'f'), 'theirs')
    const [parent, file] = [emptyDirectory(), emptyDirectory()]
    symlinkSync(outside, join(parent, 'd'))
    mkdirSync(join(file, 'd'))
    symlinkSync(join(outside, 'f'), join(file, 'd/f'))
    for (const directory of [parent, file]) {
      await expect(give(directory, { overwrite })).rejects.toMatchObject({ code: 'EEXIST' })
    }
    expect(readFileSync(join(outside, 'f'), 'utf8')).toBe('theirs')
    expect(readdirSync(outside)).toEqual(['f'])
  })

  it('stays inside when a directory is replaced by a link during the export', async () => {
    const { vault, give } = await emptyVault()
    await Promise.all(Array.from({ length: 1000 }, (_, i) => vault.write(`/d/f${i}`, `${i}`)))
    const [directory, outside] = [emptyDirectory(), emptyDirectory()]
    let isSwapped = false
    const onProgress = () => {
      if (isSwapped) return
      isSwapped = true
      renameSync(join(directory, 'd'), join(directory, 'moved'))
      symlinkSync(outside, join(directory, 'd'))
    }
    await give(directory, { onProgress })
    expect(readdirSync(outside)).toEqual([])
    expect(readdirSync(join(directory, 'moved'))).toHaveLength(1000)
  })

  it('leaves only complete files when it is interrupted', async () => {
    const { vault, give } = await emptyVault()
    await vault.write('/large', Buffer.alloc(6_000_000, 'x'))
    await Promise.all(Array.from({ length: 1000 }, (_, i) => vault.write(`/d/f${i}`, 'whole')))
    for (const wanted of [1, 3_000_000]) {
      const directory = emptyDirectory()
      const stop = new AbortController()
      const onProgress = ({ bytes }: { bytes: number }) => bytes >= wanted && stop.abort(new Error('enough'))
      await expect(give(directory, { onProgress, signal: stop.signal })).rejects.toThrow('enough')
      const left = treeOf(directory)
      expect(Object.keys(left).filter((path) => path.includes('.coppice-') || path === 'large')).toEqual([])
      const whole = Buffer.from('whole').toString('base64')
      for (const [path, about] of Object.entries(left))
        if (path !== 'd') expect(about).toMatchObject({ bytes: whole })
    }
  })

  it('removes temporary files of a killed export in every directory', async () => {
    const directory = emptyDirectory()
    const module = (path: string) => JSON.stringify(new URL(path, import.meta.url).href)
    const script = `
      import { MemoryEngine, StoreHome } from ${module('../../../store/index.ts')}
      import { Vault } from ${module('../vault.ts')}
      import { exportVault } from ${module('./index.ts')}
      const home = new StoreHome(new MemoryEngine())
      const vault = new Vault(home, 'v', await home.createVault('v'))
      await vault.write('/d/large', new Uint8Array(3 * 1024 * 1024))
      await exportVault(home, 'v', process.argv[1], { onProgress: () => process.kill(process.pid, 'SIGKILL') })`
    const args = ['--input-type=module', '--eval', script, directory]
    expect(spawnSync(process.execPath, args).signal).toBe('SIGKILL')
    const [left = '', ...more] = readdirSync(join(directory, 'd'))
    expect([left, more]).toEqual([expect.stringMatching(/^\.coppice-.*\.tmp$/), []])
    writeFileSync(join(directory, left), '')
    const { vault, give } = await emptyVault()
    await vault.write('/d/f', 'x')
    await give(directory)
    expect(Object.keys(treeOf(directory))).toEqual(['d', 'd/f'])
    writeFileSync(join(directory, left), '')
    await give(directory, { path: '/d/f' })
    expect(Object.keys(treeOf(directory))).toEqual(['d', 'd/f', 'f'])
  })

  it('creates trees deeper than the longest path of the system', async () => {
    const { home, vault, give } = await emptyVault()
    const deep = `/${'d'.repeat(30)}`.repeat(200)
    await vault.write(`${deep}/end`, 'deep')
    const directory = emptyDirectory()
    expect(await give(directory)).toMatchObject({ files: 1, directories: 200 })
    const back = new Vault(home, 'back', await home.createVault('back'))
    await importDirectory(home, { directory, vault: 'back', homePath: undefined })
    expect((await back.stat(`${deep}/end`)).size).toBe(4)
  })

  it('restores any imported tree, with content, permissions, times and links', async () => {
    const name = fc.oneof(
      fc.constantFrom(
        'a',
        'b',
        'A',
        'new\nline',
        `"'`,
        '%',
        '🌲',
        '-x',
        '.hidden',
        'n'.repeat(255),
        'é',
        'e\u0301',
      ),
      fc
        .string({ unit: 'grapheme', minLength: 1, maxLength: 8 })
        .filter((text) => /^(?!\.{1,2}$)[^/\0]+$/.test(text) && text.isWellFormed()),
    )
    const mtime = fc.record({
      seconds: fc.integer({ min: -1e9, max: 4e9 }),
      nanos: fc.integer({ min: 0, max: 999_999_999 }),
    })
    const entry = fc.record({
      path: fc.array(name, { minLength: 1, maxLength: 4 }).map((names) => `/${names.join('/')}`),
      kind: fc.constantFrom('file', 'directory', 'link'),
      content: fc.uint8Array({ maxLength: 600 }),
      times: fc.constantFrom(1, 1, 1, 200),
      // Whoever may not read a directory cannot import it again.
      mode: fc.integer({ min: 0, max: 0o777 }).map((mode) => mode | 0o700),
      mtime,
    })
    const property = fc.asyncProperty(fc.array(entry, { maxLength: 12 }), async (entries) => {
      const { home, vault, log, give } = await emptyVault()
      for (const { path, kind, content, times, mode, mtime } of entries) {
        const bytes = Buffer.concat(Array.from({ length: times }, () => content))
        // What does not fit what is there is left out: any tree will do.
        try {
          if (kind === 'file') await vault.write(path, bytes, { mode })
          else if (kind === 'directory') await vault.mkdir(path, { mode, parents: true })
          else await vault.symlink(`${path}?`, path)
          const inode = log.readFiles().findByPath(path) ?? 0
          await log.submit(() => ({ op: 'attributes', path, inode, mtime }))
        } catch {}
      }
      const [first, second] = [emptyDirectory(), emptyDirectory()]
      await give(first)
      await home.createVault('back')
      const report = await importDirectory(home, { directory: first, vault: 'back', homePath: undefined })
      expect(report.skipped).toEqual([])
      const old = log.readFiles()
      const back = (await home.openVault('back')).readFiles()
      for await (const { path, stat } of vault.walk('/', { includeDirs: true })) {
        const [was, is] = [old.getInode(old.findByPath(path) ?? 0), back.getInode(back.findByPath(path) ?? 0)]
        expect({ ...stat, path, mode: was.mode }).toMatchObject({ type: is.type, mode: is.mode })
        expect(
          Math.abs(was.mtime.nanos - is.mtime.nanos + (was.mtime.seconds - is.mtime.seconds) * 1e9),
        ).toBeLessThan(1000)
      }
      await exportVault(home, 'back', second)
      expect(treeOf(second)).toEqual(treeOf(first))
    })
    await fc.assert(property, { numRuns: 60 })
  })
})
