import { constants } from 'node:os'
import fc from 'fast-check'
import { beforeEach, describe, expect, it } from 'vitest'
import { opcodes } from '../../src/fuse/protocol/index.ts'
import { EVERYTHING, frame, Kernel, ROOT, text, u32, u64 } from './kernel.ts'

const { errno } = constants
const MOST_NAME_BYTES = 255
const silent: readonly number[] = [opcodes.forget, opcodes.batchForget, opcodes.interrupt]
/** Requests whose last part is a text or content, all of which is needed. */
const endsInBytes: readonly number[] = [
  opcodes.lookup,
  opcodes.symlink,
  opcodes.mknod,
  opcodes.mkdir,
  opcodes.unlink,
  opcodes.rmdir,
  opcodes.rename,
  opcodes.rename2,
  opcodes.link,
  opcodes.write,
  opcodes.setxattr,
  opcodes.getxattr,
  opcodes.removexattr,
]
const zeros = (count: number) => Buffer.alloc(count)

/** A request of each kind as a kernel sends it, about an existing file `f` where it is about one. */
function wellFormed(
  file: number,
): Readonly<Record<string, readonly [opcode: number, node: number, body: Buffer]>> {
  return {
    lookup: [opcodes.lookup, ROOT, text('f')],
    getattr: [opcodes.getattr, file, zeros(16)],
    setattr: [opcodes.setattr, file, Buffer.concat([u32(1), zeros(84)])],
    symlink: [opcodes.symlink, ROOT, Buffer.concat([text('link'), text('target')])],
    mknod: [opcodes.mknod, ROOT, Buffer.concat([u32(0o100644, 0, 0, 0), text('new')])],
    mkdir: [opcodes.mkdir, ROOT, Buffer.concat([u32(0o755, 0), text('directory')])],
    unlink: [opcodes.unlink, ROOT, text('f')],
    rmdir: [opcodes.rmdir, ROOT, text('none')],
    rename: [opcodes.rename, ROOT, Buffer.concat([u64(ROOT), text('f'), text('g')])],
    rename2: [opcodes.rename2, ROOT, Buffer.concat([u64(ROOT), u32(2, 0), text('f'), text('g')])],
    link: [opcodes.link, ROOT, Buffer.concat([u64(file), text('other')])],
    read: [opcodes.read, file, Buffer.concat([u64(0), u64(0), u32(100, 0), zeros(16)])],
    write: [
      opcodes.write,
      file,
      Buffer.concat([u64(0), u64(0), u32(7, 0), zeros(16), Buffer.from('content')]),
    ],
    statfs: [opcodes.statfs, ROOT, zeros(0)],
    fsync: [opcodes.fsync, file, zeros(16)],
    setxattr: [opcodes.setxattr, file, Buffer.concat([u32(5, 0), text('user.a'), Buffer.from('value')])],
    getxattr: [opcodes.getxattr, file, Buffer.concat([u32(100, 0), text('user.a')])],
    listxattr: [opcodes.listxattr, file, u32(100, 0)],
    removexattr: [opcodes.removexattr, file, text('user.a')],
    readdir: [opcodes.readdir, ROOT, Buffer.concat([u64(0), u64(0), u32(4096, 0), zeros(16)])],
    readdirplus: [opcodes.readdirplus, ROOT, Buffer.concat([u64(0), u64(0), u32(4096, 0), zeros(16)])],
    fallocate: [opcodes.fallocate, file, Buffer.concat([u64(0), u64(0), u64(10), u32(0, 0)])],
    lseek: [opcodes.lseek, file, Buffer.concat([u64(0), u64(0), u32(3, 0)])],
    tmpfile: [opcodes.tmpfile, ROOT, Buffer.concat([u32(0, 0o644, 0, 0), text('/')])],
    forget: [opcodes.forget, file, u64(1)],
    batchForget: [opcodes.batchForget, 0, Buffer.concat([u32(1, 0), u64(file), u64(1)])],
  }
}

describe('a FUSE server and frames', () => {
  let kernel: Kernel
  let file: number
  beforeEach(async () => {
    kernel = await Kernel.connect()
    file = kernel.make('f')
  })

  it('knows every request when it is whole', () => {
    for (const [name, [opcode, node, body]] of Object.entries(wellFormed(file))) {
      const code = kernel.ask(opcode, node, body)?.errno
      expect([errno.ENOSYS, errno.EINVAL, errno.EIO], name).not.toContain(code)
    }
  })

  it('refuses what lacks any part of a name or of content, and changes nothing', () => {
    const before = tree(kernel)
    for (const [name, [opcode, node, body]] of Object.entries(wellFormed(file))) {
      if (!endsInBytes.includes(opcode)) continue
      for (let cut = 0; cut < body.length; cut++)
        expect(kernel.ask(opcode, node, body.subarray(0, cut))?.errno, `${name} of ${cut}`).toBe(errno.EINVAL)
    }
    expect(tree(kernel)).toEqual(before)
  })

  it('answers whatever else is cut short, or keeps still where nobody waits', () => {
    for (const [name, [opcode, node, body]] of Object.entries(wellFormed(file))) {
      if (endsInBytes.includes(opcode)) continue
      for (let cut = 0; cut < body.length; cut++) {
        const code = kernel.ask(opcode, node, body.subarray(0, cut))?.errno
        const allowed = silent.includes(opcode) ? [undefined] : [0, errno.EINVAL, errno.ENODATA]
        expect(allowed, `${name} of ${cut}`).toContain(code)
      }
    }
  })

  it('does not answer a frame whose header lies', () => {
    const [opcode, node, body] = wellFormed(file)['lookup'] ?? [0, 0, zeros(0)]
    const whole = frame(opcode, node, body, 7n)
    const lying = (offset: number, value: number) => {
      const bytes = Buffer.from(whole)
      if (offset === 0) bytes.writeUInt32LE(value, 0)
      else bytes.writeUInt16LE(value, offset)
      return kernel.send(bytes)
    }
    for (const length of [0, 1, 39, whole.length + 1, 2 ** 32 - 1]) expect(lying(0, length)).toBeUndefined()
    expect(lying(36, 0xffff)).toBeUndefined()
    for (let length = 0; length < 40; length++) expect(kernel.send(whole.subarray(0, length))).toBeUndefined()
    // One that says what is behind it is no part of the text.
    expect(lying(36, 0)?.errno).toBe(0)
  })

  it('says ENOSYS to every number it does not know', () => {
    const known: readonly number[] = Object.values(opcodes)
    const unknown = fc.integer({ min: 0, max: 2 ** 32 - 1 }).filter((code) => !known.includes(code))
    const property = fc.property(unknown, fc.uint8Array({ maxLength: 100 }), (opcode, body) => {
      expect(kernel.ask(opcode, ROOT, body)?.errno).toBe(errno.ENOSYS)
    })
    fc.assert(property)
  })

  it('makes a name of any bytes exactly, or refuses it and makes none', () => {
    const part = fc.constantFrom(
      ...['a', 'ü', '日', '/', '.', '\n', '\uFFFD', '\uD83D\uDE00'].map((each) => Buffer.from(each)),
    )
    const broken = fc.constantFrom(
      ...[[0xff], [0xc3], [0xed, 0xa0, 0x80], [0xc0, 0xaf]].map((each) => Buffer.from(each)),
    )
    const short = fc.array(fc.oneof({ arbitrary: part, weight: 6 }, { arbitrary: broken, weight: 1 }), {
      maxLength: 4,
    })
    const long = fc.integer({ min: 250, max: 300 }).map((count) => [Buffer.alloc(count, 'x')])
    fc.assert(
      fc.property(fc.oneof({ arbitrary: short, weight: 8 }, long), maker, (parts, opcode) => {
        const name = Buffer.concat(parts)
        const before = names(kernel)
        const code = makeNamed(kernel, opcode, file, name)
        const isTaken = before.includes(name.toString())
        expect(code).toBe(refusalOf(name) || (isTaken ? errno.EEXIST : 0))
        expect(names(kernel)).toEqual(code === 0 ? [...before, name.toString()].toSorted() : before)
      }),
      { numRuns: 500 },
    )
  })

  it('ends a name at the first NUL', () => {
    expect(
      kernel.ask(opcodes.mkdir, ROOT, Buffer.concat([u32(0o755, 0), Buffer.from('a\0b\0')]))?.errno,
    ).toBe(0)
    expect(names(kernel)).toEqual(['a', 'f'])
  })

  it('has done what is called off, and is not disturbed by it', () => {
    const uniques = fc.array(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), { maxLength: 5 })
    const property = fc.property(uniques, (interrupted) => {
      for (const unique of [7n, ...interrupted]) {
        const body = Buffer.alloc(8)
        body.writeBigUInt64LE(unique)
        expect(kernel.ask(opcodes.interrupt, 0, body)).toBeUndefined()
      }
      expect(kernel.ask(opcodes.getattr, file, zeros(16))?.errno).toBe(0)
    })
    fc.assert(property)
    expect(kernel.ask(opcodes.interrupt, 0, zeros(3))).toBeUndefined()
  })
})

describe('an introduction', () => {
  it('is agreed on for every version there is, and refused for older ones', async () => {
    const kernel = await Kernel.connect({ isIntroduced: false })
    for (let minor = 0; minor <= 60; minor++) {
      const answer = kernel.ask(opcodes.init, 0, u32(7, minor, 4096, EVERYTHING))
      expect(answer?.errno).toBe(minor < 31 ? errno.EPROTO : 0)
      if (answer?.errno === 0) expect(answer.body.readUInt32LE(4)).toBe(Math.min(minor, 38))
    }
    expect(kernel.ask(opcodes.init, 0, u32(6, 40, 4096, EVERYTHING))?.errno).toBe(errno.EPROTO)
  })

  it('never claims what the kernel does not offer', async () => {
    const kernel = await Kernel.connect({ isIntroduced: false })
    const property = fc.property(fc.integer({ min: 0, max: EVERYTHING }), (offered) => {
      const claimed = kernel.ask(opcodes.init, 0, u32(7, 38, 4096, offered))?.body.readUInt32LE(12) ?? 0
      expect(claimed & ~offered).toBe(0)
    })
    fc.assert(property)
  })

  it('may come again, and what is known stays known', async () => {
    const kernel = await Kernel.connect()
    const file = kernel.make('f')
    kernel.ask(opcodes.unlink, ROOT, text('f'))
    expect(kernel.ask(opcodes.init, 0, u32(7, 40, 4096, EVERYTHING))?.errno).toBe(0)
    expect(kernel.ask(opcodes.init, 0, u32(7, 5, 4096, EVERYTHING))?.errno).toBe(errno.EPROTO)
    expect(kernel.ask(opcodes.getattr, file, zeros(16))?.errno).toBe(0)
  })
})

const maker = fc.constantFrom(opcodes.mknod, opcodes.mkdir, opcodes.symlink, opcodes.link)

/** Asks for something with that name, and takes it that the text ends behind it. */
function makeNamed(kernel: Kernel, opcode: number, file: number, name: Buffer): number | undefined {
  const ended = Buffer.concat([name, zeros(1)])
  const bodies = new Map<number, Buffer>([
    [opcodes.mknod, Buffer.concat([u32(0o100644, 0, 0, 0), ended])],
    [opcodes.mkdir, Buffer.concat([u32(0o755, 0), ended])],
    [opcodes.symlink, Buffer.concat([ended, text('target')])],
    [opcodes.link, Buffer.concat([u64(file), ended])],
  ])
  return kernel.ask(opcode, ROOT, bodies.get(opcode))?.errno
}

/** How a name must be refused; 0 for one that can be. */
function refusalOf(name: Buffer): number {
  const words = name.toString()
  if (!Buffer.from(words).equals(name)) return errno.EILSEQ
  if (words === '') return errno.ENOENT
  if (name.length > MOST_NAME_BYTES) return errno.ENAMETOOLONG
  return words === '.' || words === '..' || words.includes('/') ? errno.EINVAL : 0
}

function names({ files }: Kernel): string[] {
  return files.readdir(ROOT).map(({ name }) => name)
}

/** Everything a request may have changed. */
function tree({ files }: Kernel): unknown {
  return files.readdir(ROOT).map((entry) => [entry, files.getattr(entry.inode), files.listxattr(entry.inode)])
}
