import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { Cli } from './run-cli.ts'

describe('import and export', () => {
  it('skip ignored files, keep links, and resume', async () => {
    const cli = new Cli()
    const project = join(cli.files, 'project')
    mkdirSync(join(project, 'dist'), { recursive: true })
    writeFileSync(join(project, '.gitignore'), 'dist\n')
    writeFileSync(join(project, 'dist/bundle.js'), 'built')
    writeFileSync(join(project, 'a\nb'), 'odd')
    symlinkSync('/etc/passwd', join(project, 'link'))
    const options = ['--vault', 'base', '--gitignore', '--exclude', '*.log', '--into', '/in']
    expect(await cli.json('import', 'project', ...options)).toMatchObject({
      files: 2,
      links: 1,
      ignored: 1,
      skipped: [],
    })
    expect(await cli.ok('import', 'project', ...options)).toBe(
      'imported 0 files, 0 B into base, 3 already there, 1 ignored\n',
    )
    expect(await cli.ok('ls', '/in')).toBe('.gitignore\n"a\\nb"\nlink@\n')
    await cli.ok('export', 'out', '--path', '/in')
    expect(readdirSync(join(cli.files, 'out')).sort()).toEqual(['.gitignore', 'a\nb', 'link'])
    const again = await cli.run(['export', 'out', '--path', '/in'])
    expect(again).toMatchObject({ code: 1, stdout: '' })
    await cli.ok('export', 'out', '--path', '/in', '--force')
    const nowhere = await cli.run(['import', 'missing', '--vault', 'other'])
    expect(nowhere).toMatchObject({ code: 1, stdout: '' })
    expect(nowhere.stderr).toContain('there is no directory')
    expect(await cli.ok('vault', 'list')).not.toContain('other')
  })

  it('handle archives by their names, and replace none without --force', async () => {
    const cli = new Cli()
    mkdirSync(join(cli.files, 'project/sub'), { recursive: true })
    writeFileSync(join(cli.files, 'project/sub/run.sh'), 'echo hi', { mode: 0o755 })
    symlinkSync('sub/run.sh', join(cli.files, 'project/link'))
    await cli.ok('import', 'project', '--vault', 'base')
    for (const archive of ['out.tar', 'out.tar.gz', 'out.zip']) {
      expect(await cli.json('export', archive, '--vault', 'base')).toMatchObject({ files: 3 })
      const back = archive.replaceAll('.', '-')
      expect(await cli.json('import', archive, '--vault', back)).toMatchObject({
        files: 1,
        links: 1,
        skipped: [],
      })
      expect(await cli.json('stat', '/sub/run.sh', '--vault', back)).toMatchObject({ mode: 0o755 })
      expect(await cli.ok('cat', '/link', '--vault', back)).toBe('echo hi')
    }
    const again = await cli.run(['export', 'out.zip', '--vault', 'base'])
    expect(again).toMatchObject({ code: 1, stderr: expect.stringContaining('--force') })
    await cli.ok('export', 'out.zip', '--force', '--path', '/sub', '--vault', 'base')
    writeFileSync(join(cli.files, 'broken.zip'), 'no zip at all, only words that are long enough')
    const broken = await cli.run(['import', 'broken.zip', '--vault', 'base'])
    expect(broken).toMatchObject({ code: 1, stderr: expect.stringContaining('not a zip archive') })
    expect(broken.stderr).toContain(cli.files)
    symlinkSync('out.tar.gz', join(cli.files, 'link.tar.gz'))
    expect(await cli.json('import', 'link.tar.gz', '--vault', 'linked')).toMatchObject({ skipped: [] })
    const missing = await cli.run(['export', 'none.zip', '--path', '/none', '--vault', 'base'])
    expect(missing).toMatchObject({ code: 1, stderr: expect.stringContaining('/none') })
    expect(existsSync(join(cli.files, 'none.zip'))).toBe(false)
    expect(readdirSync(cli.files).filter((name) => name.includes('tmp'))).toEqual([])
  })

  it('never replace the store of the home', async () => {
    const cli = new Cli()
    await cli.ok('vault', 'create', 'base')
    await cli.ok('write', '/store.db', '--text', 'no store')
    const refused = await cli.run(['export', cli.home, '--force'])
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('is the home of the vault') })
    expect(await cli.ok('cat', '/store.db')).toBe('no store\n')
  })

  it('report host files by their whole paths', async () => {
    const cli = new Cli()
    await cli.ok('vault', 'create', 'base')
    await cli.ok('write', '/f', '--text', 'x')
    mkdirSync(join(cli.files, 'taken.zip'))
    mkdirSync(join(cli.files, 'out/f'), { recursive: true })
    for (const target of ['missing/out.zip', 'taken.zip', 'taken.zip/in/out.tar']) {
      const { code, stdout, stderr } = await cli.run(['export', target, '--force'])
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
      expect(stderr).toContain(`coppice: ${join(cli.files, target)}: `)
      expect(stderr).not.toContain('coppice ls')
    }
    const inTheWay = await cli.run(['export', 'out', '--force'])
    expect(inTheWay).toMatchObject({ code: 1, stderr: expect.stringContaining(join(cli.files, 'out/f')) })
    writeFileSync(join(cli.files, 'cut.tar.gz'), 'not compressed at all')
    const cut = await cli.run(['import', 'cut.tar.gz'])
    expect(cut).toMatchObject({ code: 1, stderr: expect.stringContaining(join(cli.files, 'cut.tar.gz')) })
  })

  it('remove the leftovers of a killed archive export with the next one', async () => {
    const cli = new Cli()
    await cli.ok('vault', 'create', 'base')
    // Incompressible data takes long to compress.
    mkdirSync(join(cli.files, 'in'))
    writeFileSync(join(cli.files, 'in/noise'), randomBytes(32 * 1024 * 1024))
    await cli.ok('import', 'in')
    const left = () => readdirSync(cli.files).filter((name) => name.startsWith('.coppice-'))
    const exporting = cli.start(['export', 'out.tar.gz'])
    while (left().length === 0 && exporting.exitCode === null) await nextTurn()
    exporting.kill('SIGKILL')
    expect(await once(exporting, 'close')).toEqual([null, 'SIGKILL'])
    expect(left()).toHaveLength(1)
    await cli.ok('rm', '/noise')
    await cli.ok('export', 'out.tar.gz')
    expect(readdirSync(cli.files).sort()).toEqual(['in', 'out.tar.gz'])
  })

  it('stop at ^C with an intact home, and resume', async () => {
    const cli = new Cli()
    const many = join(cli.files, 'many')
    mkdirSync(many)
    const count = 1000
    for (let file = 0; file < count; file++) writeFileSync(join(many, `f${file}`), `content ${file}`)
    const endless = join(many, 'z')
    writeFileSync(endless, '')
    // A sparse file takes long to read but no space.
    truncateSync(endless, 64 * 2 ** 30)
    await cli.ok('vault', 'create', 'base')
    const importing = cli.start(['import', 'many'])
    while ((await cli.ok('ls')) === '') {}
    importing.kill('SIGINT')
    expect(await once(importing, 'close')).toEqual([130, null])
    expect(await cli.json('fsck')).toMatchObject({ damaged: [] })
    expect(readdirSync(cli.home).filter((name) => name.includes('tmp'))).toEqual([])
    rmSync(endless)
    await cli.ok('import', 'many')
    expect(await cli.json('vault', 'info')).toMatchObject({ files: count })
  })
})

describe('send and receive', () => {
  it('transfer a vault to another home, by a pipe or a file, completely and incrementally', async () => {
    const cli = new Cli()
    const there = join(cli.scratch, 'there')
    await cli.ok('vault', 'create', 'base')
    await cli.ok('write', '/a', '--text', 'first')
    await cli.ok('checkpoint', 'save', 'monday')
    const file = join(cli.scratch, 'base.coppice')
    await cli.ok('send', '--checkpoint', 'monday', '--to', file)
    expect(await cli.json('receive', '--from', file, '--home', there)).toMatchObject({ vault: 'base' })
    await cli.ok('write', '/b', '--text', 'second')
    await cli.ok('checkpoint', 'save', 'tuesday')
    await cli.ok('send', '--checkpoint', 'tuesday', '--since', 'monday', '--to', file)
    expect(await cli.ok('receive', '--from', file, '--home', there)).toMatch(
      /^received changes of base since monday, checkpoint \w+; it holds 2 files, 13 B\n$/,
    )
    expect(await cli.ok('ls', '--home', there)).toBe('a\nb\n')
    const noPlace = await cli.run(['send', '--json'])
    expect(noPlace).toMatchObject({ code: 2, stdout: '' })
    const damaged = join(cli.scratch, 'damaged')
    writeFileSync(damaged, readFileSync(file).subarray(0, -10))
    expect((await cli.run(['receive', '--from', damaged, '--as', 'new', '--home', there])).code).toBe(1)
    expect(existsSync(`${file}.tmp`)).toBe(false)
  })

  it('write into a pipe or a device, follow a link, and make a file for its owner alone', async () => {
    const cli = new Cli()
    await cli.ok('vault', 'create', 'base')
    await cli.ok('write', '/a', '--text', 'first')
    const [file, link, pipe, gone] = ['sent', 'link', 'pipe', 'gone'].map((name) => join(cli.scratch, name))
    if (!file || !link || !pipe || !gone) return
    await cli.ok('send', '--to', file)
    expect(statSync(file).mode & 0o777).toBe(0o600)
    const old = join(cli.scratch, 'old')
    writeFileSync(old, 'old')
    symlinkSync(old, link)
    await cli.ok('send', '--to', link)
    expect(lstatSync(link).isSymbolicLink()).toBe(true)
    expect(readFileSync(old)).toEqual(readFileSync(file))
    execFileSync('mkfifo', [pipe])
    const [received] = await Promise.all([readFile(pipe), cli.ok('send', '--to', pipe)])
    expect(received).toEqual(readFileSync(file))
    expect(lstatSync(pipe).isFIFO()).toBe(true)
    expect(await cli.ok('send', '--to', '/dev/null')).toContain('to /dev/null')
    expect(statSync('/dev/null').isCharacterDevice()).toBe(true)
    symlinkSync(join(cli.scratch, 'nowhere'), gone)
    const missing = await cli.run(['send', '--to', 'nowhere/base.send'])
    expect(missing.stderr).toContain('nowhere/base.send cannot be written: there is no directory nowhere')
    const refused = await cli.run(['send', '--to', gone])
    expect(refused).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('does not exist; name that file'),
    })
  })
})
