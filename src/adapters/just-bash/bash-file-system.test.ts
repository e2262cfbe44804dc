import { Bash, type IFileSystem } from 'just-bash'
import { describe, expect, it } from 'vitest'
import { openHome } from '../../backends/vault/index.ts'
import {
  type CallContext,
  type Content,
  list,
  MemoryFs,
  OverlayFs,
  ReadOnlyFs,
  readText,
  type WriteOptions,
} from '../../vfs/index.ts'
import { bashFileSystem, createBash } from './index.ts'

/** Remembers who asked for what. */
class WatchedFs extends MemoryFs {
  readonly seen: { readonly op: string; readonly ctx: CallContext | undefined }[] = []

  override write(path: string, content: Content, options?: WriteOptions, ctx?: CallContext): Promise<void> {
    this.seen.push({ op: 'write', ctx })
    return super.write(path, content, options, ctx)
  }

  override append(path: string, content: Content, ctx?: CallContext): Promise<void> {
    this.seen.push({ op: 'append', ctx })
    return super.append(path, content, ctx)
  }
}

async function run(fs: MemoryFs, script: string): Promise<string> {
  const { stdout, stderr } = await (await createBash(fs)).exec(script)
  return stdout + stderr
}

describe('the file system of a shell', () => {
  it('lists a quoted pattern of ls, up to a limit', async () => {
    const fs = new MemoryFs({ '/src/a.ts': '', '/src/b.md': '', '/src/deep/c.ts': '' })
    expect(await run(fs, 'cd /src; ls "*.ts"')).toBe('a.ts\n')
    expect(bashFileSystem(fs).getAllPaths()).toEqual([
      '/',
      '/src',
      '/src/a.ts',
      '/src/b.md',
      '/src/deep',
      '/src/deep/c.ts',
    ])
    const many = Array.from({ length: 12_000 }, (_, index) => [`/d/f${index}`, ''])
    expect(bashFileSystem(new MemoryFs(Object.fromEntries(many))).getAllPaths()).toHaveLength(10_000)
    expect(bashFileSystem(new OverlayFs(fs)).getAllPaths()).toEqual(['/'])
  })

  it("shows a vault's history, which its synchronous interface lacks", async () => {
    await using home = await openHome()
    const vault = await home.createVault('base')
    await vault.write('/f', 'then\n')
    await vault.checkpoint('first')
    await vault.write('/f', 'now\n')
    const bash = await createBash(vault)
    const { stdout, stderr } = await bash.exec('cd /.coppice/at/first && ls -l | wc -l && cat f')
    expect([stdout.replaceAll(' ', ''), stderr]).toEqual(['2\nthen\n', ''])
  })

  it('shares all changes with the file system, in both directions', async () => {
    const fs = new MemoryFs({ '/a': 'old\n' })
    const bash = await createBash(fs)
    expect((await bash.exec('cat a; echo new > b')).stdout).toBe('old\n')
    expect(await readText(fs, '/b')).toBe('new\n')
    await fs.write('/a', 'changed\n')
    await fs.remove('/b')
    expect((await bash.exec('cat a; ls b')).stdout).toBe('changed\n')
  })

  it('appends without rewriting, and does nothing for an empty append', async () => {
    const fs = new WatchedFs({ '/log': 'one\n' })
    await run(fs, 'echo two >> log; : >> log')
    expect(await readText(fs, '/log')).toBe('one\ntwo\n')
    expect(fs.seen.map(({ op }) => op)).toEqual(['append'])
  })

  it('acts for its caller', async () => {
    const ctx: CallContext = { caller: { kind: 'context', context: 'anna' } }
    const fs = new WatchedFs()
    const bash = await createBash(fs, { ctx })
    await bash.exec('echo x > a; echo y >> a')
    expect(new Set(fs.seen.map((call) => call.ctx?.caller))).toEqual(new Set([ctx.caller]))
  })

  it('recognises one file by its two names, and distinguishes file systems', async () => {
    const fs = new MemoryFs({ '/a': 'x', '/c': 'x' })
    await fs.link('/a', '/b')
    const [one, other] = [bashFileSystem(fs), bashFileSystem(new MemoryFs({ '/a': 'x' }))]
    const [a, b, c] = await Promise.all(['/a', '/b', '/c'].map((path) => one.stat(path)))
    expect([b?.dev, b?.ino]).toEqual([a?.dev, a?.ino])
    expect(c?.ino).not.toBe(a?.ino)
    expect((await other.stat('/a')).dev).not.toBe(a?.dev)
  })

  it('lists names with their types', async () => {
    const fs = new MemoryFs({ '/d/f': 'x', '/a': 'x' })
    await fs.symlink('a', '/l')
    const types = await bashFileSystem(fs).readdirWithFileTypes?.('/')
    expect(types).toEqual([
      { name: 'a', isFile: true, isDirectory: false, isSymbolicLink: false },
      { name: 'd', isFile: false, isDirectory: true, isSymbolicLink: false },
      { name: 'l', isFile: false, isDirectory: false, isSymbolicLink: true },
    ])
  })

  it('reads and writes every encoding just-bash has', async () => {
    const fs = bashFileSystem(new MemoryFs())
    await fs.writeFile('/a', 'ff00', 'hex')
    await fs.appendFile('/a', '/wA=', { encoding: 'base64' })
    await fs.appendFile('/a', 'ÿ', 'latin1')
    await fs.appendFile('/a', 'ü')
    expect(await fs.readFile('/a', 'hex')).toBe('ff00ff00ffc3bc')
    expect(await fs.readFile('/a', { encoding: 'base64' })).toBe('/wD/AP/DvA==')
    expect(await fs.readFileBytes?.('/a')).toBe('\xff\0\xff\0\xff\xc3\xbc')
    await fs.writeFile('/u', Buffer.from('\ufeffüx'))
    expect(await fs.readFile('/u')).toBe('üx')
  })

  it('reports errors as commands expect them, with the requested path', async () => {
    const fs = bashFileSystem(new MemoryFs({ '/a': 'x', '/d/f': 'x' }))
    const said = (call: Promise<unknown>) =>
      call.then(
        () => 'nothing',
        (error: Error) => error.message,
      )
    expect(await said(fs.readFile('/gone'))).toBe("ENOENT: no such file or directory, open '/gone'")
    expect(await said(fs.readdir('/a'))).toBe("ENOTDIR: not a directory, scandir '/a'")
    expect(await said(fs.rm('/d'))).toBe("ENOTEMPTY: directory not empty, rm '/d'")
    expect(await said(fs.cp('/d', '/e'))).toBe("EISDIR: illegal operation on a directory, cp '/d'")
    expect(await said(fs.link('/d', '/e'))).toBe("EPERM: operation not permitted, link '/d'")
    expect(await said(fs.realpath('/gone'))).toBe("ENOENT: no such file or directory, realpath '/gone'")
    expect(await said(fs.rm('/gone', { force: true }))).toBe('nothing')
  })

  it.each(['/copy', '/'])('copies a tree to %s with the times of files and directories', async (to) => {
    let time = 1000
    const fs = new MemoryFs({ '/d/sub/f': 'x' }, { now: () => time })
    time = 5000
    await bashFileSystem(fs).cp('/d', to, { recursive: true })
    const below = to === '/' ? '' : to
    for (const path of [to, `${below}/sub`, `${below}/sub/f`]) {
      expect((await fs.stat(path)).mtime, path).toEqual(new Date(1000))
    }
  })

  it('continues after a rejected redirection, where a plain shell rejects', async () => {
    const refusing = new ReadOnlyFs(new MemoryFs({ '/a': 'x' }))
    const plain = new Bash({ fs: bashFileSystem(refusing), cwd: '/' })
    await expect(plain.exec('echo x > a')).rejects.toThrow("EROFS: read-only file system, write '/a'")
    expect(await (await createBash(refusing)).exec('echo x > a')).toMatchObject({
      stderr: 'bash: /a: Read-only file system\n',
      exitCode: 1,
    })
  })

  it('does not remove the root', async () => {
    const fs = new MemoryFs({ '/a': 'x' })
    expect(await run(fs, 'rm -r /')).toBe(
      "rm: cannot remove '/': EINVAL: the root cannot be removed, rm '/'\n",
    )
    expect(await fs.exists('/a')).toBe(true)
  })
})

describe("the shell's own files", () => {
  it('are visible to scripts, and not in the file system', async () => {
    const fs = new MemoryFs({ '/usr/local/x': '' })
    expect(await run(fs, 'ls / /usr; /bin/echo run; cat /proc/self/comm; [ -e /dev/null ] && which ls')).toBe(
      '/:\nbin\ndev\nproc\nusr\n\n/usr:\nbin\nlocal\nrun\nbash\n/usr/bin/ls\n',
    )
    expect((await list(fs, '/')).map(({ name }) => name)).toEqual(['usr'])
  })

  it('discard writes to a device, also through a link', async () => {
    const fs = new MemoryFs()
    expect(
      await run(fs, 'ln -s /dev/null log; echo x > log; echo x >> /dev/null; cat log; cat /dev/null'),
    ).toBe('')
    expect((await list(fs, '/')).map(({ name }) => name)).toEqual(['log'])
  })

  it('are found through links of the file system', async () => {
    expect(
      await run(
        new MemoryFs(),
        'ln -s /bin/echo e; ln -s /proc p; cat p/self/comm; ls p; readlink -f e; [ -e p/self/comm ] && echo there',
      ),
    ).toBe('bash\nself\nversion\n/bin/echo\nthere\n')
  })

  it('cannot be changed', async () => {
    const fs = bashFileSystem(new MemoryFs({ '/a': 'x' }))
    const bash = new Bash({ fs, cwd: '/' })
    const changes: readonly ((fs: IFileSystem) => Promise<void>)[] = [
      (own) => own.writeFile('/bin/ls', 'x'),
      (own) => own.appendFile('/bin/ls', 'x'),
      (own) => own.rm('/bin/ls'),
      (own) => own.rm('/bin', { recursive: true }),
      (own) => own.mv('/bin/ls', '/b'),
      (own) => own.mv('/a', '/bin/ls'),
      (own) => own.cp('/a', '/bin/ls'),
      (own) => own.chmod('/bin/ls', 0o600),
      (own) => own.utimes('/bin/ls', new Date(), new Date()),
      (own) => own.symlink('x', '/bin/ls'),
      (own) => own.link('/bin/ls', '/b'),
    ]
    for (const change of changes) await expect(change(fs)).rejects.toMatchObject({ code: 'EROFS' })
    expect((await bash.exec('ls a')).stdout).toBe('a\n')
  })

  it('allow files in the same directories', async () => {
    const fs = new MemoryFs()
    const bash = new Bash({ fs: bashFileSystem(fs) })
    const script =
      'pwd; mkdir d; echo x > d/f; mkdir /tmp/t; mkdir /tmp; cp /bin/ls /tmp/copy; ls /tmp; rm -r /tmp/t'
    expect(await bash.exec(script)).toMatchObject({
      stdout: '/home/user\ncopy\nt\n',
      stderr: "mkdir: cannot create directory '/tmp': File exists\n",
    })
    expect(await readText(fs, '/home/user/d/f')).toBe('x\n')
  })
})
