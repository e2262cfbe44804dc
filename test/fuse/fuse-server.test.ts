import { constants } from 'node:os'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { opcodes } from '../../src/fuse/protocol/index.ts'
import { EVERYTHING, frame, Kernel, ROOT, text, u32, u64 } from './kernel.ts'

const { errno } = constants

const OWNER = { mode: 0o755, uid: 0, gid: 0 }

describe('a FUSE server', () => {
  it('agrees on the older version and on what both can do', async () => {
    const kernel = await Kernel.connect({ isIntroduced: false })
    const [asyncRead, posixLocks, noOpen] = [1, 2, 1 << 17]
    const answer = kernel.ask(opcodes.init, 0, u32(7, 31, 4096, asyncRead | posixLocks | noOpen))
    expect(answer?.body.length).toBe(64)
    expect([answer?.body.readUInt32LE(4), answer?.body.readUInt32LE(12)]).toEqual([31, asyncRead | noOpen])
  })

  it('asks a newer major version to come down, and refuses an older one', async () => {
    const kernel = await Kernel.connect({ isIntroduced: false })
    expect(kernel.ask(opcodes.init, 0, u32(8, 0, 0, 0))?.body.readUInt32LE(0)).toBe(7)
    expect(kernel.ask(opcodes.getattr, ROOT, Buffer.alloc(16))?.errno).toBe(errno.EIO)
    expect(kernel.ask(opcodes.init, 0, u32(7, 20, 0, 0))?.errno).toBe(errno.EPROTO)
    expect(kernel.ask(opcodes.init, 0, u32(7, 31, 0, 0))?.errno).toBe(0)
  })

  it('answers with the number of the request', async () => {
    const kernel = await Kernel.connect()
    const unique = 2n ** 63n + 12n
    expect(kernel.ask(opcodes.getattr, ROOT, Buffer.alloc(16), unique)?.unique).toBe(unique)
  })

  it('says ENOSYS to what it does not know', async () => {
    const kernel = await Kernel.connect()
    for (const opcode of [opcodes.open, opcodes.create, opcodes.flush, 99, 4096])
      expect(kernel.ask(opcode, ROOT, Buffer.alloc(64))?.errno).toBe(errno.ENOSYS)
  })

  it('answers for a missing name in a form that the kernel can cache', async () => {
    const kernel = await Kernel.connect()
    const { errno: code, body } = kernel.ask(opcodes.lookup, ROOT, text('none')) ?? fail()
    expect([code, body.length, body.readBigUInt64LE(0), body.readBigUInt64LE(16)]).toEqual([0, 128, 0n, 60n])
  })

  it('refuses a name that is not UTF-8 and keeps one with the replacement character', async () => {
    const kernel = await Kernel.connect()
    expect(kernel.ask(opcodes.lookup, ROOT, Buffer.from([0xff, 0]))?.errno).toBe(errno.EILSEQ)
    expect(kernel.make('\uFFFD')).toBe(kernel.lookup('\uFFFD'))
  })

  it('keeps a removed file until the kernel has forgotten every lookup of it', async () => {
    const kernel = await Kernel.connect()
    const ino = kernel.make('f')
    expect(kernel.lookup('f')).toBe(ino)
    kernel.ask(opcodes.unlink, ROOT, text('f'))
    expect(kernel.ask(opcodes.forget, ino, u64(1))).toBeUndefined()
    kernel.ask(opcodes.statfs, ROOT)
    expect(kernel.files.getattr(ino).nlink).toBe(0)
    const both = Buffer.concat([u32(1, 0), u64(ino), u64(1)])
    expect(kernel.ask(opcodes.batchForget, 0, both)).toBeUndefined()
    kernel.ask(opcodes.statfs, ROOT)
    expect(() => kernel.files.getattr(ino)).toThrow('ENOENT')
  })

  it('refuses a request that is shorter than it says, whatever lies behind it', async () => {
    const kernel = await Kernel.connect()
    const ino = kernel.make('f')
    const write = frame(opcodes.write, ino, Buffer.concat([u64(0), u64(0), u32(500, 0), u64(0), u64(0)]), 7n)
    expect(kernel.send(Buffer.concat([write, Buffer.alloc(1000, 'x')]))?.errno).toBe(errno.EINVAL)
    const lookup = frame(opcodes.lookup, ROOT, Buffer.from('name'), 7n)
    expect(kernel.send(Buffer.concat([lookup, Buffer.alloc(8)]))?.errno).toBe(errno.EINVAL)
    expect(kernel.files.getattr(ino).size).toBe(0)
  })

  it('puts what is appended at the end, wherever the kernel takes that to be', async () => {
    const kernel = await Kernel.connect()
    const ino = kernel.make('f')
    kernel.files.write(ino, 0, Buffer.from('others '))
    expect(kernel.append(ino, 0, 'one ')?.body.readUInt32LE(0)).toBe(4)
    kernel.files.setattr(ino, { size: 3 })
    kernel.append(ino, 11, 'two')
    expect(kernel.content(ino)).toBe('othtwo')
    expect(kernel.stale).toEqual([ino, ino])
    kernel.append(ino, 6, ' three')
    expect(kernel.stale).toHaveLength(2)
  })

  it('keeps the pieces together that the kernel cuts an append into', async () => {
    const kernel = await Kernel.connect()
    const ino = kernel.make('f')
    kernel.append(ino, 4090, 'first-')
    kernel.files.append(ino, Buffer.from('others'))
    kernel.append(ino, 4096, 'second')
    expect(kernel.content(ino)).toBe('othersfirst-second')
    // What was written over since is nobody's piece any more.
    kernel.append(ino, 8190, 'ab')
    kernel.files.write(ino, 0, Buffer.from('O'.repeat(25)))
    kernel.append(ino, 8192, 'cd')
    expect(kernel.content(ino)).toBe(`${'O'.repeat(25)}cd`)
  })

  it('writes a page of a mapping where it belongs, also of a file that is open to be appended to', async () => {
    const kernel = await Kernel.connect()
    const ino = kernel.make('f')
    kernel.files.write(ino, 0, Buffer.from('0123456789'))
    kernel.append(ino, 2, 'XY', { isFromCache: true })
    expect(kernel.content(ino)).toBe('01XY456789')
  })

  it('finds what a file handle names by dots, also after it was forgotten', async () => {
    const kernel = await Kernel.connect()
    const [directory, ino] = [kernel.files.mkdir(ROOT, 'd', OWNER), kernel.make('f')]
    const look = (node: number, name: string) => {
      const answer = kernel.ask(opcodes.lookup, node, text(name))
      return answer?.errno === 0 ? Number(answer.body.readBigUInt64LE(0)) : answer?.errno
    }
    expect([look(ino, '.'), look(directory, '.'), look(directory, '..')]).toEqual([ino, directory, ROOT])
    kernel.files.unlink(ROOT, 'f')
    kernel.ask(opcodes.forget, ino, u64(2))
    kernel.ask(opcodes.statfs, ROOT)
    expect(look(ino, '.')).toBe(errno.ENOENT)
  })

  it('clears set-user-id when a user other than root allocates space', async () => {
    const kernel = await Kernel.connect()
    const ino = kernel.make('f')
    const modeAfter = (uid: number) => {
      kernel.files.setattr(ino, { mode: 0o6755 })
      const body = Buffer.concat([u64(0), u64(0), u64(10), u32(0, 0)])
      const request = frame(opcodes.fallocate, ino, body, 7n)
      request.writeUInt32LE(uid, 24)
      expect(kernel.send(request)?.errno).toBe(0)
      kernel.ask(opcodes.statfs, ROOT)
      return kernel.files.getattr(ino).mode & 0o7777
    }
    expect([modeAfter(1000), modeAfter(0)]).toEqual([0o755, 0o6755])
  })

  it('lists pipes, sockets and devices with their kind', async () => {
    const kernel = await Kernel.connect()
    const modes = { pipe: 0o010644, character: 0o020644, block: 0o060644, socket: 0o140644, file: 0o100644 }
    for (const [name, mode] of Object.entries(modes)) kernel.files.mknod(ROOT, name, { ...OWNER, mode }, 0)
    const body = Buffer.concat([u64(0), u64(0), u32(4096, 0), u64(0), u32(0, 0)])
    const listing = kernel.ask(opcodes.readdir, ROOT, body)?.body ?? Buffer.alloc(0)
    const kinds: Record<string, number> = {}
    for (let at = 0; at < listing.length; ) {
      const length = listing.readUInt32LE(at + 16)
      kinds[listing.toString('utf8', at + 24, at + 24 + length)] = listing.readUInt32LE(at + 20)
      at += Math.ceil((24 + length) / 8) * 8
    }
    expect(kinds).toEqual({ '.': 4, '..': 4, pipe: 1, character: 2, block: 6, socket: 12, file: 8 })
  })

  it('keeps times before 1970 and after 2038', async () => {
    const kernel = await Kernel.connect()
    const ino = kernel.make('f')
    for (const seconds of [-1n, -(2n ** 33n), 2n ** 33n]) {
      const body = Buffer.alloc(88)
      body.writeUInt32LE(1 << 5, 0)
      body.writeBigInt64LE(seconds, 40)
      const answer = kernel.ask(opcodes.setattr, ino, body)
      expect(answer?.body.readBigInt64LE(16 + 32)).toBe(seconds)
    }
  })

  it('survives a forget of an inode that was never looked up', async () => {
    const kernel = await Kernel.connect()
    for (const node of [0, ROOT, 12_345]) kernel.ask(opcodes.forget, node, u64(2 ** 40))
    expect(kernel.ask(opcodes.getattr, ROOT, Buffer.alloc(16))?.errno).toBe(0)
  })

  it('shows attributes at once, and commits them with the next change or a statfs', async () => {
    const kernel = await Kernel.connect()
    const ino = kernel.make('f')
    const mode = (bits: number) => {
      const body = Buffer.alloc(88)
      body.writeUInt32LE(1, 0)
      body.writeUInt32LE(bits, 68)
      return kernel.ask(opcodes.setattr, ino, body)?.body.readUInt32LE(16 + 60)
    }
    expect(mode(0o600)).toBe(0o100600)
    expect(kernel.files.getattr(ino).mode).toBe(0o100644)
    kernel.make('g')
    expect(kernel.files.getattr(ino).mode).toBe(0o100600)
    mode(0o755)
    kernel.ask(opcodes.statfs, ROOT)
    expect(kernel.files.getattr(ino).mode).toBe(0o100755)
  })

  it('keeps attributes waiting when the change they were to go with is refused', async () => {
    const kernel = await Kernel.connect()
    const ino = kernel.make('f')
    const body = Buffer.alloc(88)
    body.writeUInt32LE(1, 0)
    body.writeUInt32LE(0o600, 68)
    kernel.ask(opcodes.setattr, ino, body)
    expect(kernel.ask(opcodes.rmdir, ROOT, text('none'))?.errno).toBe(errno.ENOENT)
    kernel.ask(opcodes.fsync, ino, Buffer.alloc(16))
    expect(kernel.files.getattr(ino).mode).toBe(0o100600)
  })

  it('renames as the flags say, also where the kernel has not seen what is there', async () => {
    const kernel = await Kernel.connect()
    const [f, g] = [kernel.make('f'), kernel.make('g')]
    const rename = (flags: number) =>
      kernel.ask(opcodes.rename2, ROOT, Buffer.concat([u64(ROOT), u32(flags, 0), text('f'), text('g')]))
        ?.errno
    expect([rename(1), rename(3), rename(4)]).toEqual([errno.EEXIST, errno.EINVAL, errno.EINVAL])
    expect(rename(2)).toBe(0)
    expect([kernel.lookup('f'), kernel.lookup('g')]).toEqual([g, f])
    expect(rename(0)).toBe(0)
    expect([kernel.lookup('f'), kernel.lookup('g')]).toEqual([0, g])
  })

  it('sets room aside, clears it and refuses what it cannot do with it', async () => {
    const kernel = await Kernel.connect()
    const ino = kernel.make('f')
    const allocate = (mode: number, position: number, length: number) =>
      kernel.ask(opcodes.fallocate, ino, Buffer.concat([u64(0), u64(position), u64(length), u32(mode, 0)]))
    kernel.files.write(ino, 0, Buffer.from('0123456789'))
    for (const mode of [2, 4, 8, 9, 18, 32, 64]) expect(allocate(mode, 0, 5)?.errno).toBe(errno.EOPNOTSUPP)
    expect(Buffer.from(kernel.files.read(ino, 0, 20)).toString()).toBe('0123456789')
    for (const [mode, position, length] of [
      [3, 1, 2],
      [17, 8, 9],
      [16, 9, 3],
    ] as const)
      expect(allocate(mode, position, length)?.errno).toBe(0)
    expect(Buffer.from(kernel.files.read(ino, 0, 20)).toString()).toBe('0\0\x0034567\0\0\0\0')
  })

  it('lists a directory in parts of any size, each name once', async () => {
    const kernel = await Kernel.connect()
    const names = Array.from({ length: 40 }, (_, index) => `file-${index}`.padEnd(8 + (index % 9), 'x'))
    for (const name of names) kernel.make(name)
    for (const size of [200, 1000, 100_000])
      expect(listing(kernel, size)).toEqual(['.', '..', ...names.toSorted()])
  })

  it('lists by its name alone what another process removes meanwhile', async () => {
    const kernel = await Kernel.connect()
    const { files } = kernel
    const owner = { mode: 0o644, uid: 0, gid: 0 }
    for (const name of ['f', 'g', 'h']) files.create(ROOT, name, owner)
    const { readdir } = files
    files.readdir = (...which) => {
      const entries = readdir.apply(files, which)
      files.unlink(ROOT, 'g')
      return entries
    }
    const body = Buffer.concat([u64(0), u64(2), u32(4096, 0), u64(0), u64(0)])
    const { errno: code, body: entries } = kernel.ask(opcodes.readdirplus, ROOT, body) ?? fail()
    expect(code).toBe(0)
    const nodes = [0, 1, 2].map((index) => Number(entries.readBigUInt64LE(index * (128 + 32))))
    expect(nodes).toEqual([kernel.lookup('f'), 0, kernel.lookup('h')])
  })

  it('answers or keeps still, whatever it is sent', async () => {
    const kernel = await Kernel.connect()
    const ino = kernel.make('f')
    const known = fc.constantFrom(...Object.values(opcodes).filter((code) => code !== opcodes.destroy))
    const opcode = fc.oneof(known, fc.nat(5000))
    const body = fc.oneof(
      fc.uint8Array({ maxLength: 200 }),
      fc.array(fc.nat(300)).map((words) => u32(...words)),
    )
    const request = fc.tuple(opcode, fc.constantFrom(0, ROOT, ino, 999), body, fc.nat(300))
    const property = fc.property(request, fc.option(fc.nat(260)), ([code, node, bytes, length], cut) => {
      const whole = frame(code, node, bytes, 9n)
      if (cut !== null) whole.writeUInt32LE(length, 0)
      const answer = kernel.send(cut === null ? whole : whole.subarray(0, cut))
      if (answer !== undefined) expect(answer.unique).toBe(9n)
    })
    fc.assert(property, { numRuns: 2000 })
    kernel.ask(opcodes.init, 0, u32(7, 45, 65_536, EVERYTHING))
    expect(kernel.ask(opcodes.getattr, ROOT, Buffer.alloc(16))?.errno).toBe(0)
  })
})

/** Reads a directory to its end, as many bytes at a time. */
function listing(kernel: Kernel, size: number): string[] {
  const names: string[] = []
  for (let cookie = 0; ; ) {
    const body = Buffer.concat([u64(0), u64(cookie), u32(size, 0), u64(0), u64(0)])
    const entries = kernel.ask(opcodes.readdir, ROOT, body)?.body ?? fail()
    if (entries.length === 0) return names
    expect(entries.length).toBeLessThanOrEqual(size)
    for (let at = 0; at < entries.length; ) {
      const length = entries.readUInt32LE(at + 16)
      cookie = Number(entries.readBigUInt64LE(at + 8))
      names.push(entries.toString('utf8', at + 24, at + 24 + length))
      at += Math.ceil((24 + length) / 8) * 8
    }
  }
}

function fail(): never {
  throw new Error('there was no answer')
}
