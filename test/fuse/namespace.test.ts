import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { guard, zonePolicy } from '../../src/access/index.ts'
import {
  Backend,
  byteStream,
  type DirEntry,
  MemoryFs,
  type PathChange,
  ReadOnlyFs,
  type ReadOptions,
  readText,
  type Stat,
} from '../../src/vfs/index.ts'
import { whyNoMount } from './mounted-vault.ts'
import { MountedFiles, run } from './namespace-mount.ts'

const reason = whyNoMount()

/** What programs do all day, with a result that `diff` can compare. */
const DAILY = `
mkdir -p a/b && echo one > a/b/f && echo two >> a/b/f && cp a/b/f a/g && mv a/g a/h && mv a/b c
ln -s c/f link && cat link > read && chmod 755 read && chmod 600 a/h
printf 0123456789 > cut && truncate -s 4 cut && truncate -s 6 cut && : > empty
dd if=/dev/zero of=hole bs=1 count=1 seek=5000 2>/dev/null
head -c 3000000 /dev/zero | tr '\\0' x > large && cp large copy && cmp large copy && rm large
dd if=/dev/zero of=copy bs=7 seek=1000 count=1 conv=notrunc 2>/dev/null
sed -i s/one/ONE/ c/f && mkdir gone && rmdir gone && echo x > 'a name' && tar cf - a c | (mkdir t && cd t && tar xf -)
`

describe.skipIf(reason !== undefined)(`any file system, mounted${reason ? `: ${reason}` : ''}`, () => {
  it('is for programs what a directory is', async () => {
    await using mounted = await MountedFiles.create(new MemoryFs())
    const plain = mounted.beside('plain')
    expect(await mounted.sh(DAILY)).toEqual({ code: 0, out: '' })
    expect(await run(plain, 'sh', ['-ec', DAILY])).toEqual({ code: 0, out: '' })
    expect(await run(plain, 'diff', ['-r', '.', mounted.path])).toEqual({ code: 0, out: '' })
    const modes = ['-c', 'find . -type f -printf "%p %m %s\\n" | sort']
    expect(await run(mounted.path, 'sh', modes)).toEqual(await run(plain, 'sh', modes))
  })

  it('shows the room of the disk below it, or plenty', async () => {
    const look = 'stat -f -c "%b %c %S" .'
    await using mounted = await MountedFiles.create(new MemoryFs(), { disk: tmpdir() })
    expect(await mounted.sh(look)).toEqual(await run(tmpdir(), 'sh', ['-c', look]))
    await using unknown = await MountedFiles.create(new MemoryFs())
    expect(await unknown.sh(look)).toMatchObject({ out: `${2 ** 28} ${2 ** 20} 4096\n` })
  })

  it('holds a git repository', async () => {
    await using mounted = await MountedFiles.create(new MemoryFs())
    const script = `git init -q r && cd r && echo 1 > f && git add . && git ${NAMED} commit -qm one &&
      echo 2 > f && git ${NAMED} commit -qam two && git gc -q && git fsck && git log --format=%s && git status --short`
    expect(await mounted.sh(script)).toEqual({ code: 0, out: 'two\none\n' })
  })

  it('has what was closed in the file system, and not before', async () => {
    const fs = new MemoryFs({ '/f': 'before' })
    await using mounted = await MountedFiles.create(fs)
    const steps =
      "f = open('f', 'w', 1); print('after', file=f); print(open('f').read(), end=''); input(); f.close(); print(); input()"
    const child = mounted.start('python3', '-uc', steps)
    await once(child.stdout, 'data')
    expect(await readText(fs, '/f')).toBe('before')
    child.stdin.write('\n')
    await once(child.stdout, 'data')
    expect(await readText(fs, '/f')).toBe('after\n')
    child.stdin.end('\n')
    await once(child, 'exit')
  })

  it('stores what is open when it is unmounted under its users', async () => {
    const fs = new MemoryFs()
    const mounted = await MountedFiles.create(fs)
    const child = mounted.start(
      'python3',
      '-uc',
      "f = open('f', 'wb', 0); f.write(b'kept'); print(); input()",
    )
    await once(child.stdout, 'data')
    expect(await readText(fs, '/f')).toBe('')
    await mounted[Symbol.asyncDispose]()
    expect(await readText(fs, '/f')).toBe('kept')
    child.stdin.end()
    await once(child, 'exit')
  })

  it('reports a changed directory after a file in it was replaced, if the file system counts changes', async () => {
    const fs = new MemoryFs({ '/d/f': 'x' })
    await using mounted = await MountedFiles.create(fs, { validSeconds: 3600 })
    const { out } = await mounted.sh('stat -c %Y d > /dev/null; echo y > d/f; date -u -r d +%s.%3N')
    expect(Number(out) * 1000).toBe((await fs.stat('/d')).mtime.getTime())
  })

  it('makes an edit again on what somebody else stored meanwhile', async () => {
    const fs = new MemoryFs({ '/f': '0000000000' })
    await using mounted = await MountedFiles.create(fs)
    const child = mounted.start('python3', '-uc', "f = open('f', 'r+b', 0); f.write(b'11'); print(); input()")
    await once(child.stdout, 'data')
    await fs.write('/f', '000000002222')
    child.stdin.end('\n')
    await once(child, 'exit')
    expect(await readText(fs, '/f')).toBe('110000002222')
  })

  it('keeps an open file readable after its name is removed, and does not restore the name', async () => {
    const fs = new MemoryFs({ '/f': 'still here', '/g': 'replaced', '/h': 'new' })
    await using mounted = await MountedFiles.create(fs)
    const script = `
import os
f, g = open('f', 'r+b', 0), open('g', 'rb')
os.unlink('f'); os.rename('h', 'g')
f.write(b'STILL')
print(os.fstat(f.fileno()).st_nlink, os.pread(f.fileno(), 20, 0), g.read(), os.listdir('.'))`
    expect((await mounted.python(script)).out).toBe("0 b'STILL here' b'replaced' ['g']\n")
    expect(await readText(fs, '/g')).toBe('new')
    expect(await fs.exists('/f')).toBe(false)
  })

  it('refuses at the open what a guard refuses, with nothing changed', async () => {
    const inner = new MemoryFs({ '/mine/f': 'mine', '/theirs/f': 'theirs' })
    const fs = guard(inner, [zonePolicy([{ root: '/mine', writers: ['me'] }])])
    await using mounted = await MountedFiles.create(fs, {
      ctx: { caller: { kind: 'context', context: 'me' } },
    })
    for (const change of ['echo x > theirs/f', 'echo x >> theirs/f', 'echo x > theirs/new', 'mkdir theirs/d'])
      expect((await mounted.sh(change)).out).toContain('Permission denied')
    for (const change of [
      'rm theirs/f',
      'mv theirs/f mine/g',
      'mv mine/f theirs/f',
      'truncate -s 0 theirs/f',
    ])
      expect((await mounted.sh(change)).out).toContain('Permission denied')
    expect((await mounted.sh('echo more >> mine/f; cat mine/f theirs/f')).out).toBe('minemore\ntheirs')
    expect(await readText(inner, '/theirs/f')).toBe('theirs')
  })

  it('is read-only where the file system is, or the mount', async () => {
    await using frozen = await MountedFiles.create(new ReadOnlyFs(new MemoryFs({ '/f': 'x' })))
    await using viewed = await MountedFiles.create(new MemoryFs({ '/f': 'x' }), { isReadOnly: true })
    for (const mounted of [frozen, viewed]) {
      expect((await mounted.sh('cat f')).out).toBe('x')
      expect((await mounted.sh('echo y > f')).out).toContain('Read-only file system')
    }
  })

  it('says what it has not: hard links, owners, fewer permissions of a directory', async () => {
    await using mounted = await MountedFiles.create(new MemoryFs({ '/d/f': 'x' }))
    for (const change of ['ln d/f l', 'chown 7 d/f', 'mkfifo p'])
      expect((await mounted.sh(change)).out).toContain('Operation not permitted')
    expect((await mounted.sh('chmod 700 d')).out).toContain('Operation not supported')
    expect((await mounted.sh('rmdir d')).out).toContain('Directory not empty')
  })

  it('reads content that has no size in advance, and content that comes as one stream', async () => {
    await using mounted = await MountedFiles.create(new Generated())
    expect((await mounted.sh('cat unsized')).out).toBe('made-up')
    expect(await mounted.sh('seq 60000 | cmp - long')).toEqual({ code: 0, out: '' })
    const jump = "import os; f = os.open('long', 0); print(os.pread(f, 5, 200000), os.pread(f, 5, 0))"
    const parts = [LONG.subarray(200_000, 200_005), LONG.subarray(0, 5)]
    expect((await mounted.python(jump)).out).toBe(
      `${parts.map((part) => `b'${part.toString().replaceAll('\n', '\\n')}'`).join(' ')}\n`,
    )
  })

  it('answers others while one program waits, and releases a killed one', async () => {
    await using mounted = await MountedFiles.create(new Generated(), { interruptAfterMs: 0 })
    const waiting = mounted.start('cat', 'endless')
    expect((await mounted.sh('cat unsized')).out).toBe('made-up')
    waiting.kill('SIGTERM')
    expect(await once(waiting, 'exit')).toEqual([null, 'SIGTERM'])
  })

  it('notifies the kernel of changes by others', async () => {
    const fs = new MemoryFs({ '/d/f': 'one' })
    const { promise: changed, resolve: change } = Promise.withResolvers<PathChange>()
    async function* watch() {
      yield await changed
    }
    await using mounted = await MountedFiles.create(fs, { watch, validSeconds: 3600 })
    expect((await mounted.sh('cat d/new')).out).toContain('No such file')
    await fs.write('/d/new', 'there')
    change({ kind: 'added', path: '/d/new' })
    while ((await mounted.sh('cat d/new')).out !== 'there') await delay(1)
  })

  it('can be mounted twice in one process, and is not unmounted while somebody is in it', async () => {
    const fs = new MemoryFs({ '/f': 'x' })
    await using one = await MountedFiles.create(fs)
    await using other = await MountedFiles.create(fs)
    const inside = one.start('cat')
    inside.stdin.write('inside')
    await once(inside.stdout, 'data')
    await expect(one.mount.unmount()).rejects.toMatchObject({
      code: 'EUNAVAILABLE',
      message: expect.stringContaining(`cat (${inside.pid})`),
    })
    inside.stdin.end()
    await once(inside, 'exit')
    await one.mount.unmount()
    expect((await other.sh('cat f')).out).toBe('x')
    expect(await run(join(one.path, '..'), 'ls', ['mount'])).toEqual({ code: 0, out: '' })
  })
})

const NAMED = '-c user.name=n -c user.email=e'

/** What `seq 60000` prints. */
const LONG = Buffer.from(Array.from({ length: 60_000 }, (_, index) => `${index + 1}\n`).join(''))

/** Files that are made up as they are read: one of no known size, one that is a single stream, one that never comes. */
class Generated extends Backend {
  readonly capabilities: ReadonlySet<'read'> = new Set(['read'])

  protected doStat(path: string): Stat {
    const type = path === '/' ? 'directory' : 'file'
    return { type, size: path === '/long' ? LONG.length : 0, mtime: new Date(0), mode: null }
  }

  protected async *doReaddir(): AsyncGenerator<DirEntry> {
    for (const name of ['endless', 'long', 'unsized']) yield { name, type: 'file' }
  }

  protected doRead(path: string, options: ReadOptions): AsyncIterable<Uint8Array> {
    if (path === '/unsized') return byteStream(Buffer.from('made-up'), path, options)
    if (path === '/long') return byteStream(LONG, path, options)
    return byteStream(() => endless(), path, options)
  }
}

async function* endless(): AsyncGenerator<Uint8Array> {
  await new Promise(() => {})
}
