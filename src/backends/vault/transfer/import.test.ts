import { execFileSync, spawnSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  lutimesSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { MemoryEngine, StoreHome, type VaultLog } from '../../../store/index.ts'
import { readText } from '../../../vfs/index.ts'
import { Vault } from '../vault.ts'
import { importDirectory } from './import.ts'
import type { ImportOptions, ImportReport } from './import-report.ts'

const made: string[] = []

afterEach(() => {
  for (const directory of made.splice(0)) rmSync(directory, { recursive: true, force: true })
})

function directoryWith(files: Readonly<Record<string, string>>): string {
  const directory = mkdtempSync(join(tmpdir(), 'import-'))
  made.push(directory)
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(directory, path)), { recursive: true })
    writeFileSync(join(directory, path), content)
  }
  return directory
}

interface Setting {
  readonly vault: Vault
  readonly log: VaultLog
  readonly take: (directory: string, options?: ImportOptions, homePath?: string) => Promise<ImportReport>
}

async function emptyVault(): Promise<Setting> {
  const home = new StoreHome(new MemoryEngine())
  const log = await home.createVault('v')
  return {
    vault: new Vault(home, 'v', log),
    log,
    take: (directory, options, homePath) =>
      importDirectory(home, { directory, vault: 'v', homePath }, options),
  }
}

async function paths(vault: Vault): Promise<string[]> {
  const found: string[] = []
  for await (const { path } of vault.walk('/', { includeDirs: true })) found.push(path)
  return found.sort()
}

/** Who may not read everything, where this process may; undefined if it may not itself. */
const NOBODY = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : undefined
/** A checkout in a home of root's: nobody could not even start. */
const isClosedToNobody =
  NOBODY !== undefined && spawnSync(process.execPath, ['-e', '0'], { cwd: '/', ...NOBODY }).status !== 0

describe('an import', () => {
  it('copies content, permissions, times and links', async () => {
    const directory = directoryWith({ 'a/b.sh': 'echo', 'c.txt': 'c' })
    chmodSync(join(directory, 'a/b.sh'), 0o750)
    utimesSync(join(directory, 'a/b.sh'), 1, 1234.567891)
    symlinkSync('../nowhere/at all', join(directory, 'a/link'))
    lutimesSync(join(directory, 'a/link'), 1, 99)
    chmodSync(join(directory, 'a'), 0o711)
    utimesSync(join(directory, 'a'), 1, 77)
    const { vault, log, take } = await emptyVault()
    const report = await take(directory)
    expect(report).toEqual({
      files: 2,
      directories: 1,
      links: 1,
      bytes: 5,
      unchanged: 0,
      ignored: 0,
      skipped: [],
    })
    expect(await readText(vault, '/a/b.sh')).toBe('echo')
    expect(await vault.readlink('/a/link')).toBe('../nowhere/at all')
    const inode = (path: string) => log.readFiles().getInode(log.readFiles().findByPath(path) ?? 0)
    expect(inode('/a/b.sh')).toMatchObject({ mode: 0o750, mtime: { seconds: 1234 } })
    expect(Math.abs(inode('/a/b.sh').mtime.nanos - 567_891_000)).toBeLessThan(1000)
    expect(inode('/a/link').mtime.seconds).toBe(99)
    expect(inode('/a')).toMatchObject({ mode: 0o711, mtime: { seconds: 77 } })
  })

  it('writes nothing the second time, and only changes the third', async () => {
    const directory = directoryWith({ 'a/one': '1', 'a/two': '2', three: '3' })
    symlinkSync('one', join(directory, 'a/link'))
    const { vault, log, take } = await emptyVault()
    await take(directory)
    const { seq } = log
    expect(await take(directory)).toMatchObject({
      files: 0,
      directories: 0,
      links: 0,
      bytes: 0,
      unchanged: 4,
    })
    expect(log.seq).toBe(seq)
    writeFileSync(join(directory, 'a/two'), 'twice')
    writeFileSync(join(directory, 'a/four'), '4')
    chmodSync(join(directory, 'three'), 0o600)
    expect(await take(directory)).toMatchObject({ files: 3, unchanged: 2 })
    expect(await readText(vault, '/a/two')).toBe('twice')
    expect(await vault.stat('/three')).toMatchObject({ mode: 0o600 })
    expect(await take(directory)).toMatchObject({ files: 0, unchanged: 5 })
  })

  it('commits many small files together', async () => {
    const directory = directoryWith(
      Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`d${i % 3}/f${i}`, `${i}`])),
    )
    const { log, take } = await emptyVault()
    let commits = 0
    log.subscribe(() => commits++)
    await take(directory)
    expect(commits).toBeLessThan(10)
  })

  it('continues an interrupted import', async () => {
    const directory = directoryWith(
      Object.fromEntries(Array.from({ length: 2000 }, (_, i) => [`f${i}`, `${i}`])),
    )
    const { vault, take } = await emptyVault()
    const stop = new AbortController()
    const onProgress = () => stop.abort(new Error('enough'))
    await expect(take(directory, { signal: stop.signal, onProgress })).rejects.toThrow('enough')
    const before = (await paths(vault)).length
    expect(before).toBeGreaterThan(0)
    expect(before).toBeLessThan(2000)
    expect(await take(directory)).toMatchObject({ files: 2000 - before, unchanged: before })
    expect(await readText(vault, '/f1999')).toBe('1999')
  })

  it('streams large files, and stops in the middle of one', async () => {
    const directory = directoryWith({ small: 's' })
    writeFileSync(join(directory, 'large'), Buffer.alloc(5_000_001, 'large'))
    const { vault, take } = await emptyVault()
    const stop = new AbortController()
    const onProgress = ({ bytes }: { bytes: number }) => bytes > 2_000_000 && stop.abort(new Error('enough'))
    await expect(take(directory, { signal: stop.signal, onProgress })).rejects.toThrow('enough')
    expect(await vault.exists('/large')).toBe(false)
    expect(await take(directory)).toMatchObject({ bytes: expect.any(Number), skipped: [] })
    expect((await vault.stat('/large')).size).toBe(5_000_001)
  })

  it('skips and reports pipes and sockets without opening them', async () => {
    const directory = directoryWith({ file: '' })
    execFileSync('sh', ['-c', 'mkfifo "$1"', 'sh', join(directory, 'pipe')])
    const server = createServer().listen(join(directory, 'socket'))
    try {
      const { vault, take } = await emptyVault()
      const { skipped, files } = await take(directory)
      expect(files).toBe(1)
      expect(skipped).toEqual([
        { path: 'pipe', reason: 'a pipe cannot be imported' },
        { path: 'socket', reason: 'a socket cannot be imported' },
      ])
      expect(await paths(vault)).toEqual(['/file'])
    } finally {
      server.close()
    }
  })

  it('never follows a link, to a file or to a directory', async () => {
    const outside = directoryWith({ 'secret/key': 'key' })
    const directory = directoryWith({ a: 'a' })
    symlinkSync(join(outside, 'secret'), join(directory, 'dir'))
    symlinkSync(join(outside, 'secret/key'), join(directory, 'file'))
    const { vault, take } = await emptyVault()
    expect(await take(directory)).toMatchObject({ files: 1, links: 2 })
    expect(await vault.readlink('/dir')).toBe(join(outside, 'secret'))
    expect(await paths(vault)).toEqual(['/a', '/dir', '/file'])
  })

  it('stays inside when a directory is replaced by a link meanwhile', async () => {
    const outside = directoryWith({ key: 'secret' })
    const many = Object.fromEntries(
      Array.from({ length: 600 }, (_, i) => [`d/f${String(i).padStart(3, '0')}`, `${i}`]),
    )
    const directory = directoryWith({ ...many, 'e/g': 'g' })
    const { vault, take } = await emptyVault()
    let isSwapped = false
    const onProgress = () => {
      if (isSwapped) return
      isSwapped = true
      for (const name of ['d', 'e']) {
        renameSync(join(directory, name), join(directory, `${name}.old`))
        symlinkSync(outside, join(directory, name))
      }
    }
    await take(directory, { onProgress })
    const found = await paths(vault)
    expect(found.some((path) => path.endsWith('/key'))).toBe(false)
    expect(found.filter((path) => path.startsWith('/d/'))).toHaveLength(600)
  })

  it('stores hostile names exactly, and skips names that are not UTF-8', async () => {
    const names = [
      'new\nline',
      `quo"te's`,
      '100%_',
      '🌲',
      '-rf',
      'Case',
      'case',
      ' ',
      '\\',
      'é',
      'e\u0301',
      'x'.repeat(255),
      '\ufffd',
      '$(x)',
    ]
    const directory = directoryWith(Object.fromEntries(names.map((name) => [name, name])))
    writeFileSync(Buffer.concat([Buffer.from(`${directory}/`), Buffer.from([0x66, 0xff, 0x0a])]), 'bytes')
    const { vault, take } = await emptyVault()
    const { skipped } = await take(directory)
    expect(skipped).toEqual([{ path: 'f\\xff\\x0a', reason: 'the name is not UTF-8' }])
    expect(await paths(vault)).toEqual(names.map((name) => `/${name}`).sort())
    for (const name of names) expect(await readText(vault, `/${name}`)).toBe(name)
  })

  it('skips what .gitignore files match at every level, and .git', async () => {
    const directory = directoryWith({
      '.git/HEAD': 'ref',
      '.gitignore': '# comment\n*.log\n/build/\ntemp\n!keep.log\n',
      'a.log': '',
      'keep.log': '',
      'build/out': '',
      'sub/build/kept': '',
      'sub/temp/x': '',
      'sub/.gitignore': '!a.log\n/only-here\nlocal/\n!temp/\n[x]*.js\r\n',
      'sub/a.log': '',
      'sub/b.log': '',
      'sub/only-here': '',
      'sub/deep/only-here': '',
      'sub/deep/local/x': '',
      'sub/deep/xx.js': '',
      Temp: '',
      'odd [name]*/.gitignore': 'secret',
      'odd [name]*/secret': '',
      'odd n/secret': '',
    })
    const { vault, take } = await emptyVault()
    const { ignored } = await take(directory, { gitignore: true })
    expect(await files(vault)).toEqual([
      '/.gitignore',
      '/Temp',
      '/keep.log',
      '/odd [name]*/.gitignore',
      '/odd n/secret',
      '/sub/.gitignore',
      '/sub/a.log',
      '/sub/build/kept',
      '/sub/deep/only-here',
      '/sub/temp/x',
    ])
    expect(ignored).toBe(8)
  })

  it('imports .git and everything else without the gitignore option', async () => {
    const directory = directoryWith({ '.git/HEAD': 'ref', '.gitignore': '*', a: '' })
    const { vault, take } = await emptyVault()
    await take(directory)
    expect(await files(vault)).toEqual(['/.git/HEAD', '/.gitignore', '/a'])
  })

  it('skips what exclude matches, even if .gitignore negates it', async () => {
    const directory = directoryWith({
      '.gitignore': '!node_modules',
      'node_modules/a': '',
      'b/c.tmp': '',
      'b/d': '',
    })
    const { vault, take } = await emptyVault()
    await take(directory, { gitignore: true, exclude: ['node_modules', '/b/*.tmp'] })
    expect(await files(vault)).toEqual(['/.gitignore', '/b/d'])
  })

  it('never imports the home into itself', async () => {
    const directory = directoryWith({ 'home/store.db': 'x', 'other/store.db': 'x' })
    const { vault, take } = await emptyVault()
    const { skipped } = await take(directory, {}, join(directory, 'home'))
    expect(skipped).toEqual([{ path: 'home', reason: 'the directory is the home of this vault' }])
    expect(await paths(vault)).toEqual(['/other', '/other/store.db'])
    await expect(take(directory, {}, directory)).rejects.toMatchObject({ code: 'EINVAL' })
  })

  it('refuses a directory inside the home, by whatever path', async () => {
    const home = directoryWith({ 'exec/session/file': 'x' })
    const elsewhere = directoryWith({})
    symlinkSync(join(home, 'exec/session'), join(elsewhere, 'link'))
    const { vault, take } = await emptyVault()
    for (const directory of [join(home, 'exec/session'), join(home, 'exec'), join(elsewhere, 'link')]) {
      const refusal = { code: 'EINVAL', path: directory, message: expect.stringContaining('inside of it') }
      await expect(take(directory, {}, home)).rejects.toMatchObject(refusal)
    }
    expect(await paths(vault)).toEqual([])
    await take(elsewhere, {}, home)
    expect(await paths(vault)).toEqual(['/link'])
  })

  it('names the home if that is missing, and not the source', async () => {
    const directory = directoryWith({ file: 'x' })
    const { take } = await emptyVault()
    const home = join(directory, 'gone')
    await expect(take(directory, {}, home)).rejects.toMatchObject({ code: 'ENOENT', path: home })
  })

  it('writes into the target directory, and replaces what differs', async () => {
    const directory = directoryWith({ 'd/f': 'f', link: '', file: 'now a file', dir: 'a file here' })
    rmSync(join(directory, 'link'))
    symlinkSync('d', join(directory, 'link'))
    const { vault, take } = await emptyVault()
    await vault.write('/in/d', 'a file where a directory comes')
    await vault.write('/in/link', 'a file where a link comes')
    await vault.write('/in/elsewhere', 'stays')
    await vault.symlink('elsewhere', '/in/file')
    await vault.write('/in/dir/held', 'a directory is not thrown away')
    await vault.symlink('in', '/way')
    const { skipped } = await take(directory, { into: '/way' })
    expect(skipped.map(({ path }) => path)).toEqual(['dir'])
    expect(await readText(vault, '/in/d/f')).toBe('f')
    expect(await vault.readlink('/in/link')).toBe('d')
    expect(await readText(vault, '/in/file')).toBe('now a file')
    expect(await readText(vault, '/in/elsewhere')).toBe('stays')
    expect(await readText(vault, '/in/dir/held')).toBe('a directory is not thrown away')
    await expect(take(directory, { into: '/in/elsewhere' })).rejects.toMatchObject({ code: 'ENOTDIR' })
  })

  it('records the caller', async () => {
    const { vault, take } = await emptyVault()
    await take(directoryWith({ a: '' }), { caller: { kind: 'context', context: 'ci' }, trace: 't1' })
    const [record] = await Array.fromAsync(vault.journal())
    expect(record).toMatchObject({ path: '/a', caller: { kind: 'context', context: 'ci' }, trace: 't1' })
  })

  it('imports trees deeper than the longest path of the system', async () => {
    const directory = directoryWith({})
    // More levels than are kept open, and a path longer than the system takes.
    const script = `process.chdir(process.argv[1])
      for (let level = 0; level < 300; level++) { fs.mkdirSync('a'.repeat(19)); process.chdir('a'.repeat(19)) }
      fs.writeFileSync('end', 'deep')`
    execFileSync(process.execPath, ['-e', script, directory])
    const { log, take } = await emptyVault()
    expect(await take(directory)).toMatchObject({ files: 1, directories: 300, skipped: [] })
    expect(log.readFiles().findByPath(`${`/${'a'.repeat(19)}`.repeat(300)}/end`)).toBeDefined()
  })

  it('reports an error of the directory itself', async () => {
    const directory = directoryWith({ file: '' })
    const { take } = await emptyVault()
    await expect(take(join(directory, 'missing'))).rejects.toMatchObject({ code: 'ENOENT', op: 'import' })
    await expect(take(join(directory, 'file'))).rejects.toMatchObject({ code: 'ENOTDIR' })
  })

  it.skipIf(isClosedToNobody)('reports unreadable entries and imports the rest', async () => {
    const directory = directoryWith({
      'closed/f': '',
      'listed/f': '',
      'open/f': 'x',
      'open/secret': '',
      plain: '',
    })
    chmodSync(directory, 0o755)
    chmodSync(join(directory, 'closed'), 0)
    chmodSync(join(directory, 'listed'), 0o644)
    chmodSync(join(directory, 'open/secret'), 0)
    const script = `
      import { MemoryEngine, StoreHome } from ${JSON.stringify(new URL('../../../store/index.ts', import.meta.url).href)}
      import { importDirectory } from ${JSON.stringify(new URL('./import.ts', import.meta.url).href)}
      const home = new StoreHome(new MemoryEngine())
      await home.createVault('v')
      const job = { directory: ${JSON.stringify(directory)}, vault: 'v', homePath: undefined }
      console.log(JSON.stringify(await importDirectory(home, job)))`
    // Root may read everything: as nobody, it may not.
    const nobody = NOBODY ?? {}
    const args = ['--input-type=module', '--disable-warning=ExperimentalWarning', '-e', script]
    const { stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8', ...nobody })
    expect(stderr).toBe('')
    const report: ImportReport = JSON.parse(stdout)
    expect(report).toMatchObject({ files: 2, directories: 2 })
    expect(report.skipped.map(({ path }) => path).sort()).toEqual(['closed', 'listed/f', 'open/secret'])
    expect(report.skipped.every(({ reason }) => reason === 'EACCES: permission denied')).toBe(true)
    chmodSync(join(directory, 'closed'), 0o755)
    expect(existsSync(join(directory, 'closed/f'))).toBe(true)
  })
})

async function files(vault: Vault): Promise<string[]> {
  const found: string[] = []
  for await (const { path } of vault.walk('/')) found.push(path)
  return found.sort()
}
