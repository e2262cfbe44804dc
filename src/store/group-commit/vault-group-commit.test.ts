import { copyFileSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import fc from 'fast-check'
import { afterAll, describe, expect, it, type MockInstance, vi } from 'vitest'
import { fsck } from '../care/fsck.ts'
import { MemoryEngine } from '../engines/memory-engine.ts'
import { SqliteEngine } from '../engines/sqlite/sqlite-engine.ts'
import type { FileOperation } from '../files/operation.ts'
import { PosixFiles } from '../posix/posix-files.ts'
import { StoreHome } from '../store-home.ts'
import { countPieces, readPiece } from '../vault/content-pieces.ts'
import { FileHistory } from '../vault/file-history.ts'

const scratch = mkdtempSync(join(tmpdir(), 'coppice-vault-group-commit-'))
afterAll(() => rmSync(scratch, { recursive: true, force: true }))

let places = 0
const place = () => join(scratch, `store-${++places}.db`)
const ROOT = PosixFiles.root
const OWNER = { mode: 0o644, uid: 1, gid: 2 }

/** Stops the clock until it is disposed of, so that no group is committed for its age. */
function stillTime(): MockInstance {
  return vi.spyOn(performance, 'now').mockReturnValue(performance.now())
}

/** Returns everything below a directory, with its times if wanted. */
function treeOf(files: PosixFiles, withTimes: boolean, directory: number = ROOT): unknown {
  return files.readdir(directory).map(({ name, inode, type }) => {
    const { mode, nlink, uid, size, blocks, ...others } = files.getattr(inode)
    const content =
      type === 'directory' ? treeOf(files, withTimes, inode) : [...files.read(inode, 0, size)].join()
    const attributes = files.listxattr(inode).map((each) => [each, ...(files.getxattr(inode, each) ?? [])])
    const entry = { name, type, mode, nlink, uid, size, blocks, content, attributes }
    return withTimes ? { ...entry, ...others } : entry
  })
}

/** The same with the root's own attributes, read before and after all names. */
function allOf(files: PosixFiles): unknown {
  return [files.getattr(ROOT), treeOf(files, true), files.getattr(ROOT), files.statfs().files]
}

type Step = (files: PosixFiles) => void

const name = fc.constantFrom('a', 'b', 'c')
const at = (files: PosixFiles, path: string) => files.lookup(ROOT, path) ?? 0
const step: fc.Arbitrary<Step> = fc.oneof(
  name.map(
    (one): Step =>
      (files) =>
        files.create(ROOT, one, OWNER),
  ),
  name.map(
    (one): Step =>
      (files) =>
        files.mkdir(ROOT, `d${one}`, OWNER),
  ),
  fc
    .tuple(name, fc.constantFrom(0, 100, 5000, 40_000), fc.constantFrom(1, 200, 5000, 70_000), fc.nat(255))
    .map(([one, position, length, fill]): Step => {
      return (files) => files.write(at(files, one), position, Buffer.alloc(length, fill))
    }),
  fc.tuple(name, fc.constantFrom(0, 50, 6000)).map(
    ([one, size]): Step =>
      (files) =>
        files.setattr(at(files, one), { size }),
  ),
  fc.tuple(name, fc.nat(0o777)).map(
    ([one, mode]): Step =>
      (files) =>
        files.setattr(at(files, one), { mode }),
  ),
  name.map(
    (one): Step =>
      (files) =>
        files.setattr(at(files, one), { uid: 77 }),
  ),
  fc.tuple(name, fc.nat(1000)).map(
    ([one, seconds]): Step =>
      (files) =>
        files.setattr(at(files, one), { mtime: { seconds, nanos: 1 }, atime: { seconds, nanos: 2 } }),
  ),
  fc.tuple(name, fc.constantFrom(0, 300, 6000)).map(
    ([one, size]): Step =>
      (files) =>
        files.setattr(at(files, one), { size, mode: 0o600, mtime: { seconds: 5, nanos: 5 } }),
  ),
  fc.nat(1000).map(
    (seconds): Step =>
      (files) =>
        files.setattr(ROOT, { mtime: { seconds, nanos: 0 } }),
  ),
  name.map(
    (one): Step =>
      (files) =>
        files.setxattr(at(files, one), 'user.x', Uint8Array.of(1, 2)),
  ),
  name.map(
    (one): Step =>
      (files) =>
        files.unlink(ROOT, one),
  ),
  fc.tuple(name, name).map(
    ([from, to]): Step =>
      (files) =>
        files.rename(ROOT, from, ROOT, to),
  ),
  fc.tuple(name, name).map(
    ([one, to]): Step =>
      (files) =>
        files.link(at(files, one), ROOT, to),
  ),
  // A batch that writes over what is there, and is taken back.
  name.map(
    (one): Step =>
      (files) => {
        files.batch(() => {
          files.write(at(files, one), 0, Buffer.alloc(6000, 1))
          files.rmdir(ROOT, 'none')
        })
      },
  ),
)

/** What a step is refused with; undefined if it is done. */
function outcome(files: PosixFiles, one: Step): unknown {
  try {
    one(files)
    return undefined
  } catch (error) {
    return error instanceof Error && 'code' in error ? error.code : error
  }
}

function pathsIn(operation: FileOperation): string[] {
  return 'operations' in operation ? operation.operations.flatMap(pathsIn) : [operation.path]
}

/** The store as it would be found if its process had been killed now. */
function copyOf(file: string): string {
  const copy = place()
  for (const end of ['', '-wal', '-spool']) if (existsSync(file + end)) copyFileSync(file + end, copy + end)
  return copy
}

async function openWithGroupCommit(file: string): Promise<{ home: StoreHome; files: PosixFiles }> {
  const home = new StoreHome(new SqliteEngine({ file }))
  return { home, files: new PosixFiles(await home.createVault('v'), home.blobs, { usesGroupCommit: true }) }
}

async function opened(file: string): Promise<{ home: StoreHome; files: PosixFiles }> {
  const home = new StoreHome(new SqliteEngine({ file }))
  return { home, files: new PosixFiles(await home.openVault('v'), home.blobs) }
}

/** That each file, when it is changed once more, is still known as it was before. */
async function expectPast({ home, files }: { home: StoreHome; files: PosixFiles }): Promise<void> {
  const log = await home.openVault('v')
  for (const { name, inode, type } of files.readdir(ROOT)) {
    if (type !== 'file') continue
    const before = Buffer.from(files.read(inode, 0, files.getattr(inode).size))
    const version = log.readFiles().getInode(inode).version
    files.write(inode, before.length + 1, Buffer.from('!'))
    const history = new FileHistory(log.journal, log.readFiles(), `/${name}`, log.seq)
    const past = history.findVersion(version)
    const content = past && history.getContent(past)
    const count = content === undefined ? 0 : countPieces(content)
    const pieces = Array.from(
      { length: count },
      (_, index) => content && readPiece(content, index, home.blobs),
    )
    expect([name, Buffer.concat(pieces.filter((piece) => piece !== undefined)).equals(before)]).toEqual([
      name,
      true,
    ])
  }
}

describe('the group commit of a vault', () => {
  it('applies and refuses each change as alone, and has the same files after a commit and after a kill', async () => {
    const steps = fc.array(fc.oneof({ weight: 9, arbitrary: step }, fc.constant('settle' as const)), {
      maxLength: 30,
    })
    const property = fc.asyncProperty(steps, async (all) => {
      const [memory, file] = [new StoreHome(new MemoryEngine()), place()]
      const plain = new PosixFiles(await memory.createVault('v'), memory.blobs)
      const { home, files } = await openWithGroupCommit(file)
      for (const one of all) {
        if (one === 'settle') files.commit()
        else expect(outcome(files, one)).toEqual(outcome(plain, one))
      }
      expect(treeOf(files, false)).toEqual(treeOf(plain, false))
      const before = allOf(files)
      const killed = await opened(copyOf(file))
      expect(allOf(killed.files)).toEqual(before)
      expect((await fsck(killed.home)).damaged).toEqual([])
      files.commit()
      expect(allOf(files)).toEqual(before)
      const other = await opened(file)
      expect(allOf(other.files)).toEqual(before)
      expect((await fsck(other.home)).damaged).toEqual([])
      for (const each of [killed, other]) await expectPast(each)
      for (const each of [killed.home, other.home, home]) await each.close()
    })
    await fc.assert(property, { numRuns: 40 })
  })

  it('makes one version of a file that is written in pieces, and stores no piece twice', async () => {
    using _still = stillTime()
    const file = place()
    const { home, files } = await openWithGroupCommit(file)
    files.batch(() => {
      const ino = files.create(ROOT, 'f', OWNER)
      for (let at = 0; at < 20_000; at += 1000) files.write(ino, at, Buffer.alloc(1000, 'x'))
    })
    files.commit()
    const { blobs } = await home.engine.usage()
    expect([blobs.count, blobs.bytes]).toEqual([1, 20_000])
    await home.close()
  })

  it('makes one journal operation of a file that is created, written and given its attributes', async () => {
    using _still = stillTime()
    const { home, files } = await openWithGroupCommit(place())
    const ino = files.mknod(ROOT, 'f', { ...OWNER, mode: 0o100600 })
    files.write(ino, 0, Buffer.from('one'))
    files.write(ino, 3, Buffer.alloc(1000, 'x'))
    files.setattr(ino, { mtime: { seconds: 9, nanos: 0 } })
    files.setattr(ino, { mode: 0o640 })
    expect(files.getattr(ino)).toMatchObject({ size: 1003, mode: 0o100640, mtime: { seconds: 9, nanos: 0 } })
    expect(Buffer.from(files.read(ino, 0, 5)).toString()).toBe('onexx')
    files.commit()
    const log = await home.openVault('v')
    expect(log.journal.readAfter(0).map(({ operation }) => operation)).toEqual([
      {
        op: 'create',
        path: '/f',
        parent: ROOT,
        name: 'f',
        type: 'file',
        uid: 1,
        gid: 2,
        mode: 0o640,
        mtime: { seconds: 9, nanos: 0 },
        content: { size: 1003, chunks: [expect.objectContaining({ size: 1003 })] },
      },
    ])
    await home.close()
  })

  it('keeps the times that were set last, also of a directory with a create in between', async () => {
    const file = place()
    const { home, files } = await openWithGroupCommit(file)
    files.setattr(ROOT, { mtime: { seconds: 1, nanos: 0 } })
    files.create(ROOT, 'f', OWNER)
    files.setattr(ROOT, { mtime: { seconds: 2, nanos: 0 } })
    files.commit()
    const other = await opened(file)
    expect(other.files.getattr(ROOT).mtime).toEqual({ seconds: 2, nanos: 0 })
    for (const each of [other.home, home]) await each.close()
  })

  it('recovers the content after a kill, also where size and mode were set in one call', async () => {
    using _still = stillTime()
    const file = place()
    const { home, files } = await openWithGroupCommit(file)
    const ino = files.create(ROOT, 'f', OWNER)
    files.write(ino, 0, Buffer.alloc(6000, 'x'))
    files.commit()
    files.setattr(ino, { size: 3000, mode: 0o600 })
    const killed = await opened(copyOf(file))
    expect(Buffer.from(killed.files.read(ino, 0, 9000)).toString()).toBe('x'.repeat(3000))
    for (const each of [killed.home, home]) await each.close()
  })

  it('links each version to the one before it, of the same file, after a kill', async () => {
    using _still = stillTime()
    const file = place()
    const { home, files } = await openWithGroupCommit(file)
    const one = files.create(ROOT, 'one', OWNER)
    files.write(one, 0, Buffer.alloc(100_000, 'a'))
    files.commit()
    for (const position of [0, 50_000]) files.write(one, position, Buffer.alloc(5000, 'b'))
    const two = files.create(ROOT, 'two', OWNER)
    files.write(two, 70_000, Buffer.from('c'))
    const killed = await opened(copyOf(file))
    const rows = (await killed.home.openVault('v')).journal.readAfter(0)
    expect(rows.map(({ seq, operation: { op, path }, before }) => [seq, op, path, before])).toEqual([
      [1, 'batch', '/', expect.anything()],
      [2, 'patch', '/one', 1],
      [3, 'patch', '/one', 2],
      [4, 'create', '/two', undefined],
      [5, 'patch', '/two', 4],
    ])
    await expectPast(killed)
    for (const each of [killed.home, home]) await each.close()
  })

  it('removes nothing that was committed through the same log meanwhile', async () => {
    const { home, files } = await openWithGroupCommit(place())
    const log = await home.openVault('v')
    files.create(ROOT, 'one', OWNER)
    await log.submit(() => ({ op: 'mkdir', path: '/two', parents: false }))
    files.commit()
    expect(files.readdir(ROOT).map(({ name }) => name)).toEqual(['one', 'two'])
    await log.flushPages()
    expect(files.readdir(ROOT).map(({ name }) => name)).toEqual(['one', 'two'])
    await home.close()
  })

  it('has every acknowledged change in the journal, and releases the store, where a page is damaged', async () => {
    const file = place()
    const { home, files } = await openWithGroupCommit(file)
    files.batch(() => {
      for (let count = 0; count < 500; count++) files.create(ROOT, `f${count}`, OWNER)
    })
    files.commit()
    await (await home.openVault('v')).flushPages()
    const pages = await home.engine.listPages(0, 1000)
    await home.close()
    for (const page of pages) {
      const copy = copyOf(file)
      const database = new DatabaseSync(copy)
      database.prepare('UPDATE pages SET bytes = zeroblob(100) WHERE id = ?').run(page)
      const damaged = new StoreHome(new SqliteEngine({ file: copy }))
      const log = await damaged.openVault('v')
      const served = new PosixFiles(log, damaged.blobs, { usesGroupCommit: true })
      const steps: readonly [path: string, step: Step][] = [
        ['/f0', (one) => one.write(at(one, 'f0'), 0, Buffer.from('0'))],
        ['/new', (one) => one.create(ROOT, 'new', OWNER)],
        ['/f1', (one) => one.write(at(one, 'f1'), 0, Buffer.from('1'))],
      ]
      const done = steps.filter(([, one]) => outcome(served, one) === undefined)
      outcome(served, (one) => one.commit())
      const paths = log.journal.readAfter(0).flatMap(({ operation }) => pathsIn(operation))
      expect(done.map(([path]) => path).filter((path) => !paths.includes(path))).toEqual([])
      database.exec('PRAGMA busy_timeout = 0; BEGIN IMMEDIATE; ROLLBACK')
      database.close()
      await damaged.engine.close()
    }
  })

  it('lets another writer commit, and goes on after it', async () => {
    const file = place()
    const { home, files } = await openWithGroupCommit(file)
    const other = await opened(file)
    for (let round = 0; round < 20; round++) {
      files.create(ROOT, `ours-${round}`, OWNER)
      files.commit()
      other.files.create(ROOT, `theirs-${round}`, OWNER)
    }
    for (const side of [files, other.files]) expect(side.readdir(ROOT)).toHaveLength(40)
    expect(outcome(files, (one) => one.create(ROOT, 'theirs-3', OWNER))).toBe('EEXIST')
    files.commit()
    await other.home.close()
    await home.close()
  })

  it('leaves nothing pending when all changes were refused', async () => {
    const { home, files } = await openWithGroupCommit(place())
    expect(outcome(files, (one) => one.unlink(ROOT, 'none'))).toBe('ENOENT')
    expect(files.pendingVersion).toBeGreaterThan(0)
    files.commit()
    expect(files.pendingVersion).toBe(0)
    await home.close()
  })
})
