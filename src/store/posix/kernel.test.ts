import {
  closeSync,
  constants,
  fstatSync,
  ftruncateSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  renameSync,
  rmdirSync,
  rmSync,
  truncateSync,
  unlinkSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import { isVfsError, VfsError } from '../../vfs/index.ts'
import { fsck, MemoryEngine, StoreHome } from '../index.ts'
import { PosixFiles } from './index.ts'

const scratch = mkdtempSync(join(tmpdir(), 'coppice-kernel-'))
afterAll(() => rmSync(scratch, { recursive: true, force: true }))

const OWNER = { mode: 0o644, uid: 0, gid: 0 }
let places = 0

interface Step {
  readonly do: 'create' | 'mkdir' | 'link' | 'unlink' | 'rmdir' | 'rename' | 'truncate' | 'write' | Handle
  readonly path: readonly string[]
  readonly to: readonly string[]
  readonly at: number
  readonly size: number
}

/** What is done with a file that is open. */
type Handle = 'open' | 'close' | 'handleWrite' | 'handleTruncate'

/** Both sides do the same: the host by path, the vault by inode. Whatever is refused throws an error with a code. */
interface Side {
  create(path: readonly string[]): void
  mkdir(path: readonly string[]): void
  link(path: readonly string[], to: readonly string[]): void
  unlink(path: readonly string[]): void
  rmdir(path: readonly string[]): void
  rename(path: readonly string[], to: readonly string[]): void
  truncate(path: readonly string[], size: number): void
  write(path: readonly string[], at: number, bytes: Uint8Array): void
  /** There is one file open at most. */
  open(path: readonly string[]): void
  close(): void
  handleWrite(at: number, bytes: Uint8Array): void
  handleTruncate(size: number): void
  handle(): unknown
  /** Every path with what `lstat` and reading tell of it. */
  listing(): unknown[]
}

class HostSide implements Side {
  readonly #root: string
  #fd: number | undefined

  constructor(root: string) {
    this.#root = root
    mkdirSync(root)
  }

  create(path: readonly string[]): void {
    closeSync(openSync(this.#at(path), 'wx'))
  }

  mkdir(path: readonly string[]): void {
    mkdirSync(this.#at(path))
  }

  link(path: readonly string[], to: readonly string[]): void {
    linkSync(this.#at(path), this.#at(to))
  }

  unlink(path: readonly string[]): void {
    unlinkSync(this.#at(path))
  }

  rmdir(path: readonly string[]): void {
    rmdirSync(this.#at(path))
  }

  rename(path: readonly string[], to: readonly string[]): void {
    renameSync(this.#at(path), this.#at(to))
  }

  truncate(path: readonly string[], size: number): void {
    truncateSync(this.#at(path), size)
  }

  write(path: readonly string[], at: number, bytes: Uint8Array): void {
    const fd = openSync(this.#at(path), constants.O_WRONLY)
    writeSync(fd, bytes, 0, bytes.length, at)
    closeSync(fd)
  }

  open(path: readonly string[]): void {
    const fd = openSync(this.#at(path), constants.O_RDWR)
    this.close()
    this.#fd = fd
  }

  close(): void {
    if (this.#fd !== undefined) closeSync(this.#fd)
    this.#fd = undefined
  }

  handleWrite(at: number, bytes: Uint8Array): void {
    if (this.#fd !== undefined) writeSync(this.#fd, bytes, 0, bytes.length, at)
  }

  handleTruncate(size: number): void {
    if (this.#fd !== undefined) ftruncateSync(this.#fd, size)
  }

  handle(): unknown {
    if (this.#fd === undefined) return undefined
    const { nlink, size } = fstatSync(this.#fd)
    const bytes = Buffer.alloc(size)
    readSync(this.#fd, bytes, 0, size, 0)
    return [nlink, size, fingerprint(bytes)]
  }

  listing(): unknown[] {
    const paths = readdirSync(this.#root, { recursive: true, encoding: 'utf8' }).sort()
    return paths.map((path) => {
      const { nlink, size } = lstatSync(join(this.#root, path))
      const isDirectory = lstatSync(join(this.#root, path)).isDirectory()
      return isDirectory ? [path] : [path, nlink, size, fingerprint(readFileSync(join(this.#root, path)))]
    })
  }

  #at(path: readonly string[]): string {
    return join(this.#root, ...path)
  }
}

class VaultSide implements Side {
  readonly #posix: PosixFiles
  #open: number | undefined

  constructor(posix: PosixFiles) {
    this.#posix = posix
  }

  create(path: readonly string[]): void {
    this.#posix.create(...this.#place(path), OWNER)
  }

  mkdir(path: readonly string[]): void {
    this.#posix.mkdir(...this.#place(path), OWNER)
  }

  link(path: readonly string[], to: readonly string[]): void {
    this.#posix.link(this.#find(path), ...this.#place(to))
  }

  unlink(path: readonly string[]): void {
    this.#posix.unlink(...this.#place(path))
  }

  rmdir(path: readonly string[]): void {
    this.#posix.rmdir(...this.#place(path))
  }

  rename(path: readonly string[], to: readonly string[]): void {
    this.#posix.rename(...this.#place(path), ...this.#place(to))
  }

  truncate(path: readonly string[], size: number): void {
    this.#posix.setattr(this.#find(path), { size })
  }

  write(path: readonly string[], at: number, bytes: Uint8Array): void {
    this.#posix.write(this.#find(path), at, bytes)
  }

  open(path: readonly string[]): void {
    const ino = this.#find(path)
    if (this.#posix.getattr(ino).type === 'directory') throw new VfsError('EISDIR', path.join('/'))
    this.#posix.open(ino)
    this.close()
    this.#open = ino
  }

  close(): void {
    if (this.#open !== undefined) this.#posix.release(this.#open)
    this.#open = undefined
  }

  handleWrite(at: number, bytes: Uint8Array): void {
    if (this.#open !== undefined) this.#posix.write(this.#open, at, bytes)
  }

  handleTruncate(size: number): void {
    if (this.#open !== undefined) this.#posix.setattr(this.#open, { size })
  }

  handle(): unknown {
    if (this.#open === undefined) return undefined
    const { nlink, size } = this.#posix.getattr(this.#open)
    return [nlink, size, fingerprint(this.#posix.read(this.#open, 0, size))]
  }

  listing(): unknown[] {
    return this.#below(PosixFiles.root, '').sort(([one], [other]) => (one < other ? -1 : 1))
  }

  #below(directory: number, prefix: string): [string, ...unknown[]][] {
    return this.#posix.readdir(directory).flatMap(({ name, inode, type }): [string, ...unknown[]][] => {
      const path = prefix + name
      if (type === 'directory') return [[path], ...this.#below(inode, `${path}/`)]
      const { nlink, size } = this.#posix.getattr(inode)
      return [[path, nlink, size, fingerprint(this.#posix.read(inode, 0, size))]]
    })
  }

  /** Walks as a kernel does: each name on the way must be a directory. */
  #place(path: readonly string[]): [parent: number, name: string] {
    const parent = this.#find(path.slice(0, -1))
    if (this.#posix.getattr(parent).type !== 'directory') throw new VfsError('ENOTDIR', path.join('/'))
    return [parent, path.at(-1) ?? '']
  }

  #find(path: readonly string[]): number {
    return path.reduce((at, name) => {
      const found = this.#posix.lookup(at, name)
      if (found === undefined) throw new VfsError('ENOENT', path.join('/'))
      return found
    }, PosixFiles.root)
  }
}

function fingerprint(bytes: Uint8Array): string {
  return bytes.length < 64 ? Buffer.from(bytes).toString('hex') : Buffer.from(bytes).toString('base64')
}

function codeOf(work: () => void): string | undefined {
  try {
    work()
    return undefined
  } catch (error) {
    if (isVfsError(error)) return error.code
    if (error instanceof Error && 'code' in error) return String(error.code)
    throw error
  }
}

function perform(side: Side, { do: act, path, to, at, size }: Step): void {
  const bytes = Uint8Array.from({ length: size % 3000 }, (_, index) => (index * 13 + at) % 256)
  if (act === 'link' || act === 'rename') side[act](path, to)
  else if (act === 'truncate') side.truncate(path, size)
  else if (act === 'write') side.write(path, at, bytes)
  else if (act === 'handleWrite') side.handleWrite(at, bytes)
  else if (act === 'handleTruncate') side.handleTruncate(size)
  else if (act === 'close') side.close()
  else side[act](path)
}

const path = fc.array(fc.constantFrom('a', 'b', 'c'), { minLength: 1, maxLength: 3 })
const place = fc.oneof(fc.nat(400), fc.nat(80_000))
const step: fc.Arbitrary<Step> = fc.record({
  do: fc.constantFrom(
    ...(['create', 'create', 'mkdir', 'mkdir', 'link', 'unlink', 'rmdir', 'rename', 'rename'] as const),
    ...(['truncate', 'write', 'write', 'open', 'close', 'handleWrite', 'handleTruncate'] as const),
  ),
  path,
  to: path,
  at: place,
  size: place,
})

describe('beside the file system of this host', () => {
  // Others have other codes.
  it.skipIf(process.platform !== 'linux')(
    'every step has the same result: names, links, sizes, bytes, error codes, files that are open without a name',
    async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(step, { maxLength: 60, size: 'max' }), async (steps) => {
          const root = join(scratch, `tree-${++places}`)
          const home = new StoreHome(new MemoryEngine())
          const host = new HostSide(root)
          const vault = new VaultSide(new PosixFiles(await home.createVault('base'), home.blobs))
          try {
            for (const one of steps) {
              const expected = codeOf(() => perform(host, one))
              expect([one, codeOf(() => perform(vault, one))]).toEqual([one, expected])
              expect(vault.handle()).toEqual(host.handle())
            }
            expect(vault.listing()).toEqual(host.listing())
            expect((await fsck(home)).damaged).toEqual([])
          } finally {
            host.close()
            rmSync(root, { recursive: true, force: true })
          }
        }),
        { numRuns: 60 },
      )
    },
  )
})
