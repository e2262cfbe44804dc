import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  type FileOperation,
  findXattr,
  fsck,
  gc,
  listTags,
  listXattrs,
  MemoryEngine,
  patchSize,
  readContent,
  readMetadata,
  StoreHome,
  type VaultFiles,
} from '../../../store/index.ts'
import { readText } from '../../../vfs/index.ts'
import { Vault } from '../vault.ts'
import { type ReceiveOptions, receiveVault, type SendOptions, sendVault } from './index.ts'
import { FrameWriter, frames, MAGIC } from './stream-format.ts'

async function emptyHome(): Promise<StoreHome> {
  return new StoreHome(new MemoryEngine())
}

async function vaultIn(home: StoreHome, name: string): Promise<Vault> {
  return new Vault(home, name, await home.createVault(name))
}

async function sent(home: StoreHome, name: string, options?: SendOptions): Promise<Buffer> {
  return Buffer.concat(await Array.fromAsync(sendVault(home, name, options)))
}

async function* inPieces(bytes: Uint8Array, size = 1000): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

async function received(home: StoreHome, bytes: Uint8Array, options?: ReceiveOptions): Promise<VaultFiles> {
  const { vault } = await receiveVault(home, inPieces(bytes), options)
  return filesOf(home, vault)
}

async function filesOf(home: StoreHome, name: string): Promise<VaultFiles> {
  return (await home.openVault(name)).readFiles()
}

/** Everything that is sent of a tree. Files of several names have equal numbers under them. */
function contentOf(home: StoreHome, files: VaultFiles): Record<string, unknown> {
  const found: Record<string, unknown> = {}
  const firstPath = new Map<number, string>()
  const pending: [path: string, number: number][] = [['/', 1]]
  for (let next = pending.pop(); next; next = pending.pop()) {
    const [path, number] = next
    const { type, mode, uid, gid, links, size, mtime } = files.getInode(number)
    if (!firstPath.has(number)) firstPath.set(number, path)
    const bytes =
      type === 'directory'
        ? ''
        : Buffer.concat([...readContent(files, number, home.blobs)]).toString('base64')
    const xattrs = listXattrs(files, number).map((name) => [
      name,
      Buffer.from(findXattr(files, number, name) ?? []).toString(),
    ])
    const labels = {
      tags: listTags(files, number),
      meta: readMetadata(files, number),
      xattrs,
      first: firstPath.get(number),
    }
    found[path] = { type, mode, uid, gid, links, size, mtime, bytes, ...labels }
    const entries = type === 'directory' ? [...files.listEntries(number)].reverse() : []
    for (const { name, inode } of entries)
      pending.push([path === '/' ? `/${name}` : `${path}/${name}`, inode])
  }
  return found
}

/** What another process that opened the home would find in it, room it takes aside. */
async function stateOf(home: StoreHome): Promise<unknown> {
  const names = await home.listVaultNames()
  const trees = await Promise.all(names.map(async (name) => contentOf(home, await filesOf(home, name))))
  const checkpoints = await Promise.all(
    names.map(async (name) => home.getCheckpoints(await home.openVault(name)).list()),
  )
  const uploads = await home.engine.listRecords('upload/')
  return { names, trees, checkpoints, uploads, pages: (await home.engine.listPages(0, 1e6)).length }
}

const NAMES = ['a', 'b c', '🌲%']
const path = fc
  .array(fc.constantFrom(...NAMES), { minLength: 1, maxLength: 4 })
  .map((names) => `/${names.join('/')}`)
const content = fc
  .tuple(fc.string({ maxLength: 30 }), fc.constantFrom(1, 1, 30, 3000, 9000))
  .map(([text, times]) => text.repeat(times))

/** One thing somebody does to a vault. */
const deed = fc.oneof(
  fc.record({ kind: fc.constant('write' as const), path, content }),
  fc.record({ kind: fc.constant('append' as const), path, content }),
  fc.record({ kind: fc.constant('mkdir' as const), path }),
  fc.record({
    kind: fc.constant('resize' as const),
    path,
    mode: fc.constantFrom(0, 100, 32_768, 65_536, 100_000),
  }),
  fc.record({ kind: fc.constant('remove' as const), path }),
  fc.record({ kind: fc.constant('rename' as const), path, to: path }),
  fc.record({ kind: fc.constant('swap' as const), path, to: path }),
  fc.record({ kind: fc.constant('link' as const), path, to: path }),
  fc.record({ kind: fc.constant('symlink' as const), path, content: fc.constantFrom('a', '../b', '/c/d') }),
  fc.record({ kind: fc.constant('labels' as const), path, content: fc.constantFrom('x', 'y', 'z') }),
  fc.record({ kind: fc.constant('unlabel' as const), path, content: fc.constantFrom('x', 'y', 'z') }),
  fc.record({ kind: fc.constant('attributes' as const), path, mode: fc.nat({ max: 0o7777 }) }),
  fc.record({ kind: fc.constant('restore' as const) }),
)
type Deed = typeof deed extends fc.Arbitrary<infer T> ? T : never

/** Does it if it can be done: any history will do. */
async function perform(home: StoreHome, vault: Vault, done: Deed): Promise<void> {
  const log = await home.openVault(vault.name)
  const place = (files: VaultFiles, at: string) => {
    const slash = at.lastIndexOf('/')
    return [files.findByPath(at.slice(0, slash) || '/') ?? 0, at.slice(slash + 1)] as const
  }
  const byInode = (plan: (files: VaultFiles, inode: number, type: string) => FileOperation) =>
    log.submit((files) => {
      const inode = 'path' in done ? files.findByPath(done.path) : undefined
      if (inode === undefined) throw new Error('it is not there')
      return plan(files, inode, files.getInode(inode).type)
    })
  try {
    if (done.kind === 'write') await vault.write(done.path, done.content)
    else if (done.kind === 'append') await vault.append(done.path, done.content)
    else if (done.kind === 'mkdir') await vault.mkdir(done.path, { parents: true })
    else if (done.kind === 'remove') await vault.remove(done.path, { recursive: true })
    else if (done.kind === 'rename') await vault.rename(done.path, done.to, { overwrite: true })
    else if (done.kind === 'symlink') await vault.symlink(done.content, done.path)
    else if (done.kind === 'restore') await vault.restore((await vault.checkpoints())[0]?.name ?? 'none')
    else if (done.kind === 'labels') {
      await vault.tags.add(done.path, done.content)
      await vault.meta.set(done.path, done.content, `of ${done.path}`)
      const value = Buffer.from(done.content).toString('base64')
      await byInode((_, inode) => ({
        op: 'xattr',
        path: done.path,
        inode,
        name: `user.${done.content}`,
        value,
      }))
    } else if (done.kind === 'unlabel') {
      await vault.tags.remove(done.path, done.content)
      await vault.meta.remove(done.path, done.content)
      await byInode((_, inode) => ({
        op: 'xattr',
        path: done.path,
        inode,
        name: `user.${done.content}`,
        value: null,
      }))
    } else if (done.kind === 'attributes') {
      const mtime = { seconds: done.mode, nanos: 123_456_789 }
      await byInode((_, inode) => ({
        op: 'attributes',
        path: done.path,
        inode,
        mode: done.mode,
        uid: 7,
        mtime,
      }))
    } else if (done.kind === 'resize') {
      await byInode((files, inode, type) => {
        if (type !== 'file') throw new Error('no')
        return patchSize({ files, blobs: home.blobs, inode, path: done.path }, done.mode)
      })
    } else if (done.kind === 'link') {
      await byInode((files, inode, type) => {
        const [parent, name] = place(files, done.to)
        if (type === 'directory' || files.findInode(parent)?.type !== 'directory') throw new Error('no')
        return { op: 'link', path: done.to, inode, parent, name }
      })
    } else {
      const { path: one, to } = done
      await byInode((files) => {
        const isNested = one.startsWith(`${to}/`) || to.startsWith(`${one}/`) || one === to
        if (isNested || files.findByPath(to) === undefined) throw new Error('no')
        const [from, target] = [place(files, one), place(files, to)]
        return { op: 'move', path: one, to, from, target, mode: 'exchange', keep: false }
      })
    }
  } catch {}
}

describe('a vault that is sent and received', () => {
  it('is the same in another home, with all its metadata', async () => {
    const [here, there] = [await emptyHome(), await emptyHome()]
    const vault = await vaultIn(here, 'base')
    await vault.write('/src/main.ts', 'main', { mode: 0o755 })
    await vault.write('/large', 'large '.repeat(100_000))
    await vault.symlink('src/main.ts', '/link')
    await vault.tags.add('/src', 'code')
    await vault.meta.set('/large', 'origin', 'test')
    await vault.checkpoint('one', { description: 'the first' })
    await vault.write('/later', 'not in it')
    const report = await receiveVault(there, sendVault(here, 'base', { checkpoint: 'one' }), { as: 'copy' })
    expect(report).toMatchObject({ vault: 'copy', checkpoint: 'one' })
    const copy = new Vault(there, 'copy', await there.openVault('copy'))
    expect(await readText(copy, '/link')).toBe('main')
    expect(await copy.exists('/later')).toBe(false)
    expect(await copy.tags.find('code')).toEqual(['/src'])
    expect(await copy.meta.get('/large', 'origin')).toBe('test')
    expect(await copy.checkpoints()).toMatchObject([{ name: 'one', description: 'the first' }])
    const [mine] = here.getCheckpoints(await here.openVault('base')).list()
    const [theirs] = there.getCheckpoints(await there.openVault('copy')).list()
    expect(theirs?.uid).toBe(mine?.uid)
    expect((await fsck(there)).damaged).toEqual([])
  })

  it('is the same after any changes, sent whole or incrementally', async () => {
    const property = fc.asyncProperty(
      fc.array(fc.array(deed, { maxLength: 15 }), { minLength: 1, maxLength: 4 }),
      async (history) => {
        const [here, step, whole] = [await emptyHome(), await emptyHome(), await emptyHome()]
        const vault = await vaultIn(here, 'v')
        for (const [index, deeds] of history.entries()) {
          for (const done of deeds) await perform(here, vault, done)
          await vault.checkpoint(`c${index}`)
          const since = index === 0 ? {} : { since: `c${index - 1}` }
          const now = contentOf(here, await filesOf(here, 'v'))
          const changed = await received(step, await sent(here, 'v', { checkpoint: `c${index}`, ...since }))
          expect(contentOf(step, changed)).toEqual(now)
          expect(contentOf(whole, await received(whole, await sent(here, 'v'), { as: `v${index}` }))).toEqual(
            now,
          )
        }
        for (const home of [step, whole]) expect((await fsck(home)).damaged).toEqual([])
      },
    )
    await fc.assert(property, { numRuns: 100 })
  })

  it('sends each content once, and only the changed chunks of a large file', async () => {
    const home = await emptyHome()
    const vault = await vaultIn(home, 'v')
    const bytes = Buffer.alloc(1_000_000)
    for (let at = 0; at < bytes.length; at += 4) bytes.writeUInt32LE(at, at)
    await vault.write('/one', bytes)
    await vault.write('/two', bytes)
    await vault.checkpoint('a')
    expect((await sent(home, 'v')).length).toBeLessThan(1_050_000)
    bytes[500_000] = 77
    await vault.write('/one', bytes)
    await vault.rename('/two', '/three')
    await vault.checkpoint('b')
    const changes = await sent(home, 'v', { checkpoint: 'b', since: 'a' })
    expect(changes.length).toBeLessThan(40_000)
    const other = await emptyHome()
    await received(other, await sent(home, 'v', { checkpoint: 'a' }))
    expect(contentOf(other, await received(other, changes))).toEqual(
      contentOf(home, await filesOf(home, 'v')),
    )
  })

  it('sends hard links that are added, removed and moved, and a changed size', async () => {
    const [here, there] = [await emptyHome(), await emptyHome()]
    const vault = await vaultIn(here, 'v')
    const log = await here.openVault('v')
    const at = (path: string) => log.readFiles().findByPath(path) ?? 0
    const link = (path: string, to: string) =>
      log.submit(() => ({ op: 'link', path: to, inode: at(path), parent: at('/'), name: to.slice(1) }))
    await vault.write('/a', 'three names')
    await link('/a', '/b')
    await link('/a', '/c')
    await vault.write('/hole', 'x'.repeat(65_536))
    await vault.checkpoint('one')
    await received(there, await sent(here, 'v', { checkpoint: 'one' }))
    await vault.remove('/a')
    await vault.rename('/b', '/d')
    await vault.rename('/c', '/e')
    await link('/d', '/f')
    await log.submit((files) => {
      const target = { files, blobs: here.blobs, inode: at('/hole'), path: '/hole' }
      return patchSize(target, 100_000)
    })
    const changes = await sent(here, 'v', { since: 'one' })
    expect(contentOf(there, await received(there, changes))).toEqual(contentOf(here, log.readFiles()))
  })

  it('uses no more space if its content is stored already', async () => {
    const home = await emptyHome()
    const vault = await vaultIn(home, 'v')
    await vault.write('/f', 'content '.repeat(10_000))
    const before = (await home.engine.usage()).blobs
    await receiveVault(home, sendVault(home, 'v'), { as: 'w' })
    expect((await home.engine.usage()).blobs).toEqual(before)
  })

  it('is rejected if the vault is missing, lacks the base, or was changed since', async () => {
    const [here, there] = [await emptyHome(), await emptyHome()]
    const vault = await vaultIn(here, 'v')
    await vault.checkpoint('a')
    const first = await sent(here, 'v', { checkpoint: 'a' })
    await vault.write('/f', 'f')
    await vault.checkpoint('b')
    const next = await sent(here, 'v', { checkpoint: 'b', since: 'a' })
    await expect(received(there, next)).rejects.toMatchObject({ code: 'ENOENT' })
    const copy = await vaultIn(there, 'v')
    await copy.checkpoint('a')
    await expect(received(there, next)).rejects.toMatchObject({ code: 'ENOENT' })
    await received(there, first, { as: 'w' })
    const changed = new Vault(there, 'w', await there.openVault('w'))
    await changed.write('/mine', 'mine')
    const before = await stateOf(there)
    await expect(received(there, next, { as: 'w' })).rejects.toMatchObject({ code: 'ECONFLICT' })
    expect(await stateOf(there)).toEqual(before)
    await changed.restore('a')
    await received(there, next, { as: 'w' })
    expect(await readText(changed, '/f')).toBe('f')
    await expect(received(there, next, { as: 'w' })).rejects.toMatchObject({ code: 'EEXIST' })
  })

  it('rejects a used or invalid name', async () => {
    const home = await emptyHome()
    await vaultIn(home, 'v')
    const stream = await sent(home, 'v')
    const before = await stateOf(home)
    await expect(received(home, stream)).rejects.toMatchObject({ code: 'EEXIST' })
    await expect(received(home, stream, { as: '../v' })).rejects.toMatchObject({ code: 'EINVAL' })
    expect(await stateOf(home)).toEqual(before)
  })

  it('rejects a stream with any byte changed, missing or added, and leaves nothing behind', async () => {
    const [here, there] = [await emptyHome(), await emptyHome()]
    const vault = await vaultIn(here, 'v')
    await vault.write('/d/f', 'some content'.repeat(50))
    await vault.symlink('d', '/l')
    await vault.checkpoint('a')
    const whole = await sent(here, 'v', { checkpoint: 'a' })
    await received(there, whole)
    await vault.rename('/d', '/e')
    await vault.write('/e/g', 'more'.repeat(100))
    const changes = await sent(here, 'v', { since: 'a' })
    const before = await stateOf(there)
    for (const stream of [whole, changes]) {
      for (let at = 0; at < stream.length; at++) {
        const flipped = Buffer.from(stream)
        flipped[at] = (stream[at] ?? 0) ^ (1 << (at % 8))
        for (const bad of [flipped, stream.subarray(0, at)]) {
          await expect(received(there, bad, stream === whole ? { as: 'w' } : {})).rejects.toMatchObject({
            code: expect.stringMatching(/^E(IO|INVAL|NOTSUP)$/),
          })
        }
      }
      const longer = Buffer.concat([stream, Buffer.from([0])])
      await expect(received(there, longer, stream === whole ? { as: 'w' } : {})).rejects.toMatchObject({
        code: 'EIO',
      })
    }
    expect(await stateOf(there)).toEqual(before)
    await received(there, changes)
  })

  it('says what to do with a stream of a later version', async () => {
    const writer = new FrameWriter()
    const stream = Buffer.concat([
      MAGIC,
      writer.encodeFrame(frames.header, Buffer.from('{"format":2,"vault":"v"}')),
    ])
    await expect(received(await emptyHome(), stream)).rejects.toMatchObject({
      code: 'ENOTSUP',
      message: expect.stringContaining('update coppice'),
    })
  })

  it.each([
    ['a name that climbs out', [{ op: 'make', path: '/../x', type: 'file', mode: 0, uid: 0, gid: 0 }]],
    [
      'a file below a link',
      [
        { op: 'make', path: '/l', type: 'symlink', mode: 0, uid: 0, gid: 0, text: '/etc' },
        { op: 'make', path: '/l/x', type: 'file', mode: 0, uid: 0, gid: 0 },
      ],
    ],
    [
      'a directory moved into itself',
      [
        { op: 'make', path: '/d', type: 'directory', mode: 0, uid: 0, gid: 0 },
        { op: 'move', path: '/d', to: '/d/e' },
      ],
    ],
    [
      'a directory with two names',
      [
        { op: 'make', path: '/d', type: 'directory', mode: 0, uid: 0, gid: 0 },
        { op: 'link', path: '/d', to: '/e' },
      ],
    ],
    [
      'a blob that never came',
      [
        { op: 'make', path: '/f', type: 'file', mode: 0, uid: 0, gid: 0 },
        { op: 'write', path: '/f', size: 5, chunks: [0] },
      ],
    ],
    [
      'content of another size',
      [
        { op: 'make', path: '/f', type: 'file', mode: 0, uid: 0, gid: 0 },
        { op: 'write', path: '/f', size: 1e15, inline: '' },
      ],
    ],
    ['an operation nobody knows', [{ op: 'format', path: '/' }]],
    ['an operation on nothing', [{ op: 'remove', path: '/nothing' }]],
    ['the root removed', [{ op: 'remove', path: '/' }]],
    ['no list at all', { op: 'remove', path: '/' }],
  ])('refuses a stream that is well made but means harm: %s', async (_, operations) => {
    const home = await emptyHome()
    const before = await stateOf(home)
    const writer = new FrameWriter()
    const parts = [
      MAGIC,
      writer.encodeFrame(frames.header, Buffer.from('{"format":1,"vault":"v"}')),
      writer.encodeFrame(frames.operations, Buffer.from(JSON.stringify(operations))),
    ]
    const count = Array.isArray(operations) ? operations.length : 1
    const end = { operations: count, blobs: 0, bytes: 0, sha256: writer.digest }
    const stream = Buffer.concat([...parts, writer.encodeFrame(frames.end, Buffer.from(JSON.stringify(end)))])
    await expect(received(home, stream)).rejects.toMatchObject({ code: 'EINVAL' })
    expect(await stateOf(home)).toEqual(before)
  })

  it('is complete when a garbage collection runs while it is sent and received', async () => {
    const [here, there] = [await emptyHome(), await emptyHome()]
    const vault = await vaultIn(here, 'v')
    // Enough for pages to be stored before the end.
    const write = (text: string) =>
      Promise.all(Array.from({ length: 8000 }, (_, i) => vault.write(`/d${i % 50}/f${i}`, `${text} ${i}`)))
    await write('old')
    const now = contentOf(here, await filesOf(here, 'v'))
    let pieces = 0
    const collecting = async function* () {
      for await (const bytes of sendVault(here, 'v')) {
        yield bytes
        pieces++
        if (pieces === 2) await write('new')
        if (pieces !== 3 && pieces !== 45) continue
        for (const home of [here, there]) await gc(home, { keepHistory: new Date() })
      }
    }
    await receiveVault(there, collecting())
    expect(pieces).toBeGreaterThan(45)
    expect(contentOf(there, await filesOf(there, 'v'))).toEqual(now)
    expect((await fsck(there)).damaged).toEqual([])
  })

  it('stops on abort on both sides, and closes the other side', async () => {
    const [here, there] = [await emptyHome(), await emptyHome()]
    const vault = await vaultIn(here, 'v')
    await Promise.all(Array.from({ length: 3000 }, (_, i) => vault.write(`/f${i}`, `${i}`)))
    const stopping = () => {
      const stop = new AbortController()
      return { signal: stop.signal, onProgress: () => stop.abort(new Error('enough')) }
    }
    const before = await stateOf(there)
    await expect(Array.fromAsync(sendVault(here, 'v', stopping()))).rejects.toThrow('enough')
    let isReleased = false
    const source = (async function* () {
      try {
        yield* sendVault(here, 'v')
      } finally {
        isReleased = true
      }
    })()
    await expect(receiveVault(there, source, stopping())).rejects.toThrow('enough')
    expect(isReleased).toBe(true)
    expect(await stateOf(there)).toEqual(before)
    expect(await here.engine.listRecords('upload/')).toEqual([])
  })
})
