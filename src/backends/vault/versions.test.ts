import { describe, expect, it } from 'vitest'
import { type FileOperation, MemoryEngine, PosixFiles, StoreHome } from '../../store/index.ts'
import { readText } from '../../vfs/index.ts'
import { openHome, Vault } from './index.ts'

const newVault = async () => (await openHome()).createVault('base')

/** The contents a file had, the newest first. */
async function contentsOf(vault: Vault, path: string): Promise<string[]> {
  const contents: string[] = []
  for await (const { version, size } of vault.versions(path)) {
    const bytes = Buffer.concat(await Array.fromAsync(vault.readVersion(path, version)))
    expect(bytes.length).toBe(size)
    contents.push(bytes.toString())
  }
  return contents
}

describe('the versions of a file', () => {
  it('are all its contents, whether written, appended or patched', async () => {
    const vault = await newVault()
    await vault.write('/f', 'one')
    await vault.append('/f', ' two')
    await using file = await vault.open('/f', { write: true })
    await file.write(0, Buffer.from('ONE'))
    await file.truncate(3)
    await vault.write('/f', 'x'.repeat(300))
    await vault.append('/f', 'y')
    await vault.write('/other', 'never in between')
    const expected = [`${'x'.repeat(300)}y`, 'x'.repeat(300), 'ONE', 'ONE two', 'one two', 'one']
    expect(await contentsOf(vault, '/f')).toEqual(expected)
  })

  it('are not those of an unlinked file, whatever the name', async () => {
    const home = await openHome()
    const [vault, files] = [await home.createVault('base'), await home.posix('base')]
    const owner = { mode: 0o644, uid: 0, gid: 0 }
    const unlinked = files.create(PosixFiles.root, 'secret', owner)
    const unnamed = files.tmpfile(PosixFiles.root, owner)
    files.open(unlinked)
    files.unlink(PosixFiles.root, 'secret')
    for (const ino of [unlinked, unnamed]) {
      const path = `/(deleted) ${ino}`
      await vault.write(path, 'mine')
      files.write(ino, 0, Buffer.from('secret'))
      files.setattr(ino, { mode: 0o600 })
      expect(await contentsOf(vault, path)).toEqual(['mine'])
      expect((await Array.fromAsync(vault.journal({ path }))).map(({ op }) => op)).toEqual(['write'])
    }
    files.link(unnamed, PosixFiles.root, 'named')
    expect(await contentsOf(vault, '/named')).toEqual(['secret'])
  })

  it('are followed through rows of earlier versions about a file without a name', async () => {
    const home = new StoreHome(new MemoryEngine())
    const log = await home.createVault('base')
    const vault = new Vault(home, 'base', log)
    const [path, parent, name] = ['/(deleted) 2', PosixFiles.root, '/']
    const attributes = { type: 'file', mode: 0o644, uid: 0, gid: 0 } as const
    const inline = Buffer.from('old').toString('base64')
    const rows: FileOperation[] = [
      {
        op: 'batch',
        path,
        operations: [
          { op: 'create', path, parent, name, ...attributes },
          { op: 'unlink', path, parent, name, keep: true },
        ],
      },
      { op: 'patch', path, inode: 2, size: 3, inline, chunks: [] },
      { op: 'link', path: '/named', from: path, inode: 2, parent, name: 'named' },
    ]
    for (const row of rows) await log.submit(() => row)
    await vault.write('/named', 'new')
    expect(await contentsOf(vault, '/named')).toEqual(['new', 'old'])
  })

  it('start with the initial content, small, larger or chunked', async () => {
    const home = await openHome()
    const [vault, files] = [await home.createVault('base'), await home.posix('base')]
    const owner = { mode: 0o644, uid: 0, gid: 0 }
    for (const size of [3, 3000, 100_000]) {
      const [path, first, second] = [`f${size}`, Buffer.alloc(size, 'a'), Buffer.alloc(size, 'a')]
      second.write('b', size - 1)
      files.batch(() => files.write(files.create(PosixFiles.root, path, owner), 0, first))
      files.write(files.lookup(PosixFiles.root, path) ?? 0, size - 1, Buffer.from('b'))
      expect(await contentsOf(vault, `/${path}`)).toEqual([second.toString(), first.toString()])
    }
    await home.close()
  })

  it('are found for a file whose name is a second one, after the first was removed', async () => {
    const home = await openHome()
    const [vault, files] = [await home.createVault('base'), await home.posix('base')]
    const owner = { mode: 0o644, uid: 0, gid: 0 }
    const contents = ['a', 'b', 'c'].map((letter) => Buffer.alloc(100_000, letter))
    const [first, second, third] = contents.map((content) => () => files.write(ino, 0, content))
    let ino = 0
    // Each row does more than one thing, as those of a mount do.
    files.batch(() => {
      ino = files.create(PosixFiles.root, 'staged', owner)
      first?.()
      files.link(ino, PosixFiles.root, 'f')
    })
    files.batch(() => {
      second?.()
      files.unlink(PosixFiles.root, 'staged')
    })
    files.batch(() => {
      third?.()
      files.create(PosixFiles.root, 'another', owner)
    })
    const all = contents.toReversed().map(String)
    expect(await contentsOf(vault, '/f')).toEqual(all)
    files.unlink(PosixFiles.root, 'f')
    expect(await contentsOf(vault, '/f')).toEqual(all)
    await home.close()
  })

  it('are found in a row that wrote the file under another name', async () => {
    const home = await openHome()
    const [vault, files] = [await home.createVault('base'), await home.posix('base')]
    const owner = { mode: 0o644, uid: 0, gid: 0 }
    const at = (name: string) => files.lookup(PosixFiles.root, name) ?? 0
    const contents = ['a', 'b', 'c'].map((letter) => Buffer.alloc(100_000, letter))
    for (const content of contents) {
      files.batch(() => {
        // As editors save, with another file made at the same time, and one that stays empty.
        for (const name of ['other', 'f']) {
          files.write(files.create(PosixFiles.root, `${name}.tmp`, owner), 0, content)
          files.rename(PosixFiles.root, `${name}.tmp`, PosixFiles.root, name)
        }
        if (at('empty') === 0) files.create(PosixFiles.root, 'empty', owner)
      })
    }
    files.batch(() => {
      files.write(at('f'), 50_000, Buffer.from('!'))
      files.rename(PosixFiles.root, 'f', PosixFiles.root, 'other', 'exchange')
    })
    const changed = Buffer.from(contents[2] ?? '')
    changed.write('!', 50_000)
    const earlier = contents.slice(0, 2).reverse()
    expect(await contentsOf(vault, '/other')).toEqual([changed, contents[2], ...earlier].map(String))
    expect(await contentsOf(vault, '/f')).toEqual([contents[2], ...earlier].map(String))
    files.write(at('empty'), 0, Buffer.from('no more'))
    expect(await contentsOf(vault, '/empty')).toEqual(['no more'])
    await home.close()
  })

  it('in a row of several are found by each name of a file', async () => {
    const home = await openHome()
    const [vault, files] = [await home.createVault('base'), await home.posix('base')]
    const owner = { mode: 0o644, uid: 0, gid: 0 }
    const ino = files.create(PosixFiles.root, 'one', owner)
    files.link(ino, PosixFiles.root, 'two')
    for (const text of ['first', 'again'])
      files.batch(() => {
        files.write(ino, 0, Buffer.from(text))
        files.create(PosixFiles.root, text, owner)
      })
    for (const name of ['/one', '/two']) expect(await contentsOf(vault, name)).toEqual(['again', 'first'])
    await home.close()
  })

  it('of a large file are complete after appends, patches, holes and truncations', async () => {
    const vault = await newVault()
    const contents: Buffer[] = []
    await vault.write('/f', Buffer.alloc(1024 * 1024, 'a'))
    contents.push(Buffer.alloc(1024 * 1024, 'a'))
    const next = async (change: Promise<void>, make: (before: Buffer) => Buffer) => {
      await change
      contents.push(make(Buffer.from(contents.at(-1) ?? '')))
    }
    await using file = await vault.open('/f', { write: true })
    await next(vault.append('/f', 'tail'), (old) => Buffer.concat([old, Buffer.from('tail')]))
    await next(file.write(100_000, Buffer.from('MIDDLE')), (old) => {
      old.write('MIDDLE', 100_000)
      return old
    })
    await next(file.truncate(50_000), (old) => old.subarray(0, 50_000))
    await next(file.truncate(200_000), (old) => Buffer.concat([old, Buffer.alloc(150_000)]))
    await next(file.write(250_000, Buffer.from('far')), (old) =>
      Buffer.concat([old, Buffer.alloc(50_000), Buffer.from('far')]),
    )
    await next(vault.append('/f', 'end'), (old) => Buffer.concat([old, Buffer.from('end')]))
    await next(file.truncate(10), (old) => old.subarray(0, 10))
    const versions = await Array.fromAsync(vault.versions('/f'))
    expect(versions.length).toBe(contents.length)
    for (const [index, { version }] of versions.toReversed().entries()) {
      const bytes = Buffer.concat(await Array.fromAsync(vault.readVersion('/f', version)))
      expect([index, bytes.equals(contents[index] ?? Buffer.alloc(0))]).toEqual([index, true])
    }
  })

  it('of a file changed several times in one step have the final content', async () => {
    const home = new StoreHome(new MemoryEngine())
    const log = await home.createVault('base')
    const posix = new PosixFiles(log, home.blobs)
    const file = posix.create(PosixFiles.root, 'f', { uid: 0, gid: 0, mode: 0o644 })
    posix.write(file, 0, Buffer.alloc(40_000, 'a'))
    posix.batch(() => {
      posix.write(file, 39_000, Buffer.alloc(2000, 'b'))
      posix.setattr(file, { size: 1003 })
      posix.write(file, 0, Buffer.from('c'))
    })
    posix.write(file, 0, Buffer.from('later'))
    const vault = new Vault(home, 'base', log)
    const [, joined] = await Array.fromAsync(vault.versions('/f'))
    const content = Buffer.concat(await Array.fromAsync(vault.readVersion('/f', joined?.version ?? '')))
    expect(joined?.size).toBe(1003)
    expect(content.toString()).toBe(`c${'a'.repeat(1002)}`)
  })

  it('stay with it when it or its directory is renamed', async () => {
    const vault = await newVault()
    await vault.write('/d/f', 'first')
    await vault.rename('/d/f', '/d/g')
    await vault.write('/d/g', 'second')
    await vault.rename('/d', '/e')
    await vault.write('/e/g', 'third')
    expect(await contentsOf(vault, '/e/g')).toEqual(['third', 'second', 'first'])
  })

  it('of a fork include those before the fork, and diverge after it', async () => {
    const home = await openHome()
    const base = await home.createVault('base')
    await base.write('/f', 'one')
    await base.write('/f', 'two')
    const task = await home.fork('base', 'task')
    await task.write('/f', 'in the fork')
    await base.write('/f', 'in the base')
    const deeper = await home.fork('task', 'deeper')
    await deeper.append('/f', ' and on')
    expect(await contentsOf(base, '/f')).toEqual(['in the base', 'two', 'one'])
    expect(await contentsOf(task, '/f')).toEqual(['in the fork', 'two', 'one'])
    expect(await contentsOf(deeper, '/f')).toEqual(['in the fork and on', 'in the fork', 'two', 'one'])
  })

  it('are those of the checkpoint after a restore, and continue from there', async () => {
    const vault = await newVault()
    await vault.write('/f', 'one')
    await vault.checkpoint('then')
    await vault.write('/f', 'two')
    await vault.restore('then')
    expect((await contentsOf(vault, '/f')).at(0)).toBe('one')
    await vault.write('/f', 'three')
    expect((await contentsOf(vault, '/f')).slice(0, 2)).toEqual(['three', 'one'])
  })

  it('of several files changed in one merge stay separate, also after they swapped names', async () => {
    const home = await openHome()
    const base = await home.createVault('base')
    for (const path of ['/a', '/b', '/c']) await base.write(path, `${path} before`)
    const task = await home.fork('base', 'task')
    for (const path of ['/a', '/b', '/c', '/new']) await task.write(path, `${path} after`)
    await home.merge('task', 'base')
    await base.rename('/a', '/moved')
    await base.rename('/b', '/a')
    await base.mkdir('/d')
    await base.rename('/c', '/d/c')
    await base.rename('/d', '/e')
    expect(await contentsOf(base, '/moved')).toEqual(['/a after', '/a before'])
    expect((await contentsOf(base, '/a')).slice(0, 2)).toEqual(['/b after', '/b before'])
    expect(await contentsOf(base, '/e/c')).toEqual(['/c after', '/c before'])
    expect(await contentsOf(base, '/new')).toEqual(['/new after'])
  })

  it('of a file that was renamed and changed in a fork are correct after the merge', async () => {
    const home = await openHome()
    const base = await home.createVault('base')
    await base.write('/a', 'one')
    await base.write('/other', 'one')
    const task = await home.fork('base', 'task')
    await task.rename('/a', '/b')
    await task.write('/b', 'two')
    await task.write('/other', 'two')
    await home.merge('task', 'base')
    expect(await contentsOf(base, '/b')).toEqual(['two', 'one'])
    await base.append('/b', '!')
    expect(await contentsOf(base, '/b')).toEqual(['two!', 'two', 'one'])
  })

  it('of a removed file remain, after those of the next file at its path', async () => {
    const vault = await newVault()
    await vault.write('/d/f', 'first life')
    await vault.remove('/d', { recursive: true })
    expect(await contentsOf(vault, '/d/f')).toEqual(['first life'])
    await vault.write('/d/f', 'second life')
    await vault.write('/d/f', 'still')
    expect(await contentsOf(vault, '/d/f')).toEqual(['still', 'second life', 'first life'])
  })

  it('of a removed file that was renamed to its path remain', async () => {
    const vault = await newVault()
    await vault.write('/draft', 'text')
    await vault.rename('/draft', '/final')
    await vault.remove('/final')
    expect(await contentsOf(vault, '/final')).toEqual(['text'])
    await vault.write('/final', 'anew')
    await vault.write('/old', 'older')
    await vault.rename('/old', '/final', { overwrite: true })
    await vault.append('/final', ' yet')
    await vault.remove('/final')
    await vault.write('/final', 'last')
    expect(await contentsOf(vault, '/final')).toEqual(['last', 'older yet', 'older', 'anew', 'text'])
  })

  it('have their author, tool call and operation', async () => {
    const vault = await newVault()
    const alice = { caller: { kind: 'context', context: 'alice' }, trace: 'call-1' } as const
    await vault.write('/f', 'x'.repeat(300), {}, alice)
    await vault.append('/f', 'y', { caller: { kind: 'process', pid: 7, context: 'bob' } })
    const versions = await Array.fromAsync(vault.versions('/f'))
    expect(versions).toMatchObject([
      { op: 'extend', size: 301, caller: { kind: 'process', pid: 7, context: 'bob' } },
      { op: 'write', size: 300, ...alice },
    ])
    expect(versions[0]).not.toHaveProperty('trace')
    expect(versions.every(({ time }) => Math.abs(time.getTime() - Date.now()) < 60_000)).toBe(true)
  })

  it('are EISDIR for a directory, and an unknown one is ENOENT', async () => {
    const vault = await newVault()
    await vault.write('/d/f', 'x')
    await vault.write('/g', 'x')
    const [other] = await Array.fromAsync(vault.versions('/g'))
    await expect(Array.fromAsync(vault.versions('/d'))).rejects.toMatchObject({ code: 'EISDIR' })
    await expect(Array.fromAsync(vault.versions('/never'))).rejects.toMatchObject({ code: 'ENOENT' })
    for (const version of ['99', '0', '-1', 'x', '', other?.version ?? '']) {
      const read = Array.fromAsync(vault.readVersion('/d/f', version))
      await expect(read).rejects.toMatchObject({ code: 'ENOENT' })
      await expect(vault.revert('/d/f', version)).rejects.toMatchObject({ code: 'ENOENT' })
    }
  })
})

describe('a revert', () => {
  it('restores an earlier content as a new version, and loses none', async () => {
    const vault = await newVault()
    await vault.write('/f', 'one')
    await vault.write('/f', 'x'.repeat(100_000))
    await vault.append('/f', 'y')
    const [, , first] = await Array.fromAsync(vault.versions('/f'))
    await vault.revert('/f', first?.version ?? '', { trace: 'undo' })
    expect(await readText(vault, '/f')).toBe('one')
    const large = 'x'.repeat(100_000)
    expect(await contentsOf(vault, '/f')).toEqual(['one', `${large}y`, large, 'one'])
    const [newest, appended] = await Array.fromAsync(vault.versions('/f'))
    expect(newest).toMatchObject({ op: 'revert', trace: 'undo' })
    await vault.revert('/f', appended?.version ?? '')
    expect(await readText(vault, '/f')).toBe(`${large}y`)
  })

  it('restores a removed file with its directories', async () => {
    const vault = await newVault()
    await vault.write('/a/b/f', 'x'.repeat(5000))
    await vault.remove('/a', { recursive: true })
    const [last] = await Array.fromAsync(vault.versions('/a/b/f'))
    await vault.revert('/a/b/f', last?.version ?? '')
    expect(await readText(vault, '/a/b/f')).toBe('x'.repeat(5000))
  })

  it('is part of the history of a fork as well', async () => {
    const home = await openHome()
    const base = await home.createVault('base')
    await base.write('/f', 'one')
    await base.write('/f', 'two')
    const task = await home.fork('base', 'task')
    const [, first] = await Array.fromAsync(task.versions('/f'))
    await task.revert('/f', first?.version ?? '')
    expect(await readText(task, '/f')).toBe('one')
    expect(await readText(base, '/f')).toBe('two')
    expect(await contentsOf(task, '/f')).toEqual(['one', 'two', 'one'])
  })
})
