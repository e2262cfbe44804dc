import { constants as files } from 'node:fs'
import { constants } from 'node:os'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { PathServer } from '../../src/fuse/paths/index.ts'
import { opcodes } from '../../src/fuse/protocol/index.ts'
import { type FileSystem, MemoryFs, ReadOnlyFs, readText } from '../../src/vfs/index.ts'
import { type Answer, EVERYTHING, frame, ROOT, text, u32, u64 } from './kernel.ts'

const { errno } = constants
const { O_APPEND, O_WRONLY } = files
/** Bit of a `setattr` that changes the size. */
const SET_SIZE = 1 << 3

/** A server of a file system, seen by a kernel that sends one request at a time. */
class Asker {
  readonly server: PathServer
  readonly #waiting = new Map<bigint, (answer: Answer) => void>()
  #last = 0n

  constructor(fs: FileSystem) {
    this.server = new PathServer(fs, {
      owner: { uid: 0, gid: 0 },
      validity: { seconds: 1 },
      interruptAfterMs: 0,
      send: (pieces) => this.#take(Buffer.concat(pieces)),
    })
    this.server.handle(frame(opcodes.init, 0, u32(7, 45, 65_536, EVERYTHING), 1n))
  }

  ask(opcode: number, node: number, body: Uint8Array = Buffer.alloc(0)): Promise<Answer> {
    return this.begin(opcode, node, body).answer
  }

  begin(
    opcode: number,
    node: number,
    body: Uint8Array,
  ): { readonly unique: number; readonly answer: Promise<Answer> } {
    this.#last += 2n
    const unique = this.#last
    const answer = new Promise<Answer>((resolve) => this.#waiting.set(unique, resolve))
    this.server.handle(frame(opcode, node, body, unique))
    return { unique: Number(unique), answer }
  }

  #take(answer: Buffer): void {
    const unique = answer.readBigUInt64LE(8)
    expect(answer.readUInt32LE(0)).toBe(answer.length)
    const body = answer.subarray(16)
    this.#waiting.get(unique)?.({ errno: Math.abs(answer.readInt32LE(4)), unique, body })
  }
}

describe('a server of paths', () => {
  it('answers finished requests, however long an earlier one takes', async () => {
    const slow = Promise.withResolvers<void>()
    const asker = new Asker(delayed(new MemoryFs({ '/slow': '1', '/fast': '22' }), slow.promise))
    const first = asker.begin(opcodes.lookup, ROOT, text('slow')).answer
    const second = await asker.ask(opcodes.lookup, ROOT, text('fast'))
    expect(second.body.readBigUInt64LE(48)).toBe(2n)
    slow.resolve()
    expect((await first).body.readBigUInt64LE(48)).toBe(1n)
  })

  it('cancels an interrupted request, and forgets it', async () => {
    const never = new Promise<void>(() => {})
    const asker = new Asker(delayed(new MemoryFs({ '/slow': '' }), never))
    const { unique, answer } = asker.begin(opcodes.lookup, ROOT, text('slow'))
    asker.server.handle(frame(opcodes.interrupt, 0, u64(unique), 99n))
    expect((await answer).errno).toBe(errno.EINTR)
    expect((await asker.ask(opcodes.getattr, 2, Buffer.alloc(16))).errno).toBe(errno.ENOENT)
  })

  it('shows the stored content after a truncate that failed', async () => {
    const asker = new Asker(new ReadOnlyFs(new MemoryFs({ '/f': 'content' })))
    const node = Number((await asker.ask(opcodes.lookup, ROOT, text('f'))).body.readBigUInt64LE(0))
    const setSize = Buffer.concat([u32(SET_SIZE, 0), u64(0), u64(3), Buffer.alloc(64)])
    expect((await asker.ask(opcodes.setattr, node, setSize)).errno).toBe(errno.EROFS)
    const { body } = await asker.ask(opcodes.getattr, node, Buffer.alloc(16))
    expect(body.readBigUInt64LE(24)).toBe(7n)
  })

  it('refuses unknown handles, and writes to a file opened for reading', async () => {
    const asker = new Asker(new MemoryFs({ '/f': 'x' }))
    const node = Number((await asker.ask(opcodes.lookup, ROOT, text('f'))).body.readBigUInt64LE(0))
    const write = (handle: number) =>
      asker.ask(
        opcodes.write,
        node,
        Buffer.concat([u64(handle), u64(0), u32(1, 0), u64(0), u64(0), text('y')]),
      )
    expect((await write(7)).errno).toBe(errno.EBADF)
    const { body } = await asker.ask(opcodes.open, node, u32(0, 0))
    expect((await write(Number(body.readBigUInt64LE(0)))).errno).toBe(errno.EBADF)
    expect((await asker.ask(opcodes.release, node, u64(7))).errno).toBe(errno.EBADF)
  })

  it('appends at the end, whatever others wrote meanwhile', async () => {
    const fs = new MemoryFs({ '/f': 'one ' })
    const asker = new Asker(fs)
    const node = Number((await asker.ask(opcodes.lookup, ROOT, text('f'))).body.readBigUInt64LE(0))
    const { body } = await asker.ask(opcodes.open, node, u32(O_WRONLY | O_APPEND, 0))
    const handle = Number(body.readBigUInt64LE(0))
    const append = (position: number, content: string) => {
      const how = u32(content.length, 0, 0, 0, O_APPEND, 0)
      const bytes = Buffer.from(content)
      return asker.ask(opcodes.write, node, Buffer.concat([u64(handle), u64(position), how, bytes]))
    }
    expect((await append(4, 'two ')).errno).toBe(0)
    await fs.append('/f', 'others ')
    await append(8, 'three')
    expect(await readText(fs, '/f')).toBe('one two others three')
    await fs.write('/f', 'short ')
    await append(20, 'end')
    await asker.ask(opcodes.release, node, u64(handle))
    expect(await readText(fs, '/f')).toBe('short end')
  })

  it('answers or ignores any request', async () => {
    const fs = new MemoryFs({ '/f': 'x', '/d/g': 'y' })
    const asker = new Asker(fs)
    for (const name of ['f', 'd']) await asker.ask(opcodes.lookup, ROOT, text(name))
    const opcode = fc.oneof(fc.constantFrom(...Object.values(opcodes)), fc.nat(5000))
    const body = fc.oneof(
      fc.uint8Array({ maxLength: 200 }),
      fc.array(fc.nat(300)).map((words) => u32(...words)),
    )
    const property = fc.property(
      opcode,
      fc.nat(4),
      body,
      fc.option(fc.nat(240)),
      (code, node, bytes, cut) => {
        const whole = frame(code, node, bytes, 9n)
        asker.server.handle(cut === null ? whole : whole.subarray(0, cut))
      },
    )
    fc.assert(property, { numRuns: 2000 })
    for (const node of [0, ROOT, 4]) asker.server.handle(frame(opcodes.forget, node, u64(2 ** 40), 11n))
    expect((await asker.ask(opcodes.getattr, ROOT, Buffer.alloc(16))).errno).toBe(0)
    await asker.server.close()
  })
})

/** A file system that answers for one name only later. */
function delayed(fs: MemoryFs, until: Promise<void>): FileSystem {
  const stat = fs.stat.bind(fs)
  return Object.assign(fs, {
    stat: async (path: string) => {
      if (path === '/slow') await until
      return stat(path)
    },
  })
}
