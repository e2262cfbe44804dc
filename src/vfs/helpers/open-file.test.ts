import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Capability, Content, FileSystem, ReadOptions, WriteOptions } from '../file-system.ts'
import { MemoryFs } from '../memory/memory-fs.ts'
import { MountTable } from '../mount/mount-table.ts'
import type { FileHandle } from '../protocols.ts'
import { ReadOnlyFs } from '../read-only-fs.ts'
import { readText } from './file-content.ts'
import { openFile } from './open-file.ts'

/** Files in memory that can do no more than they say, and keep how they were asked. */
class PlainFs extends MemoryFs {
  override readonly capabilities: ReadonlySet<Capability>
  readonly asked: string[] = []

  constructor(content: Readonly<Record<string, string>>, ...more: readonly Capability[]) {
    super(content)
    this.capabilities = new Set<Capability>(['read', 'write', 'mkdir', 'link', ...more])
  }

  override read(path: string, options?: ReadOptions): AsyncIterable<Uint8Array> {
    this.asked.push(`read ${options?.byteRange?.join('+') ?? 'all'}`)
    return super.read(path, options)
  }

  override write(path: string, content: Content, options?: WriteOptions): Promise<void> {
    if (content instanceof Uint8Array) this.asked.push(`write ${content.length}`)
    return super.write(path, content, options)
  }

  override append(path: string, content: Content): Promise<void> {
    if (content instanceof Uint8Array) this.asked.push(`append ${content.length}`)
    return super.append(path, content)
  }
}

const bytes = (text: string) => new Uint8Array(Buffer.from(text))
const textAt = async (file: FileHandle, position: number, length: number) =>
  Buffer.from(await file.read(position, length)).toString()

const FIRST = 'The quick brown fox'
const subjects: Readonly<Record<string, () => FileSystem>> = {
  'only replaces files': () => new PlainFs({ '/f': FIRST }),
  'appends to files': () => new PlainFs({ '/f': FIRST }, 'append'),
  'reads ranges and appends': () => new PlainFs({ '/f': FIRST }, 'append', 'native-read'),
  'is synchronous': () => new MemoryFs({ '/f': FIRST }),
  'is a table of such': () => new MountTable({ '/': new PlainFs({ '/f': FIRST }) }),
}

type Step =
  | { readonly act: 'write'; readonly at: number; readonly text: string }
  | { readonly act: 'append'; readonly text: string }
  | { readonly act: 'truncate'; readonly size: number }
  | { readonly act: 'read'; readonly at: number; readonly length: number }
  | { readonly act: 'sync' | 'stat' | 'reopen' }

const text = fc.stringMatching(/^[a-z]{0,9}$/)
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ act: fc.constant('write'), at: fc.nat(40), text }),
  fc.record({ act: fc.constant('append'), text }),
  fc.record({ act: fc.constant('truncate'), size: fc.nat(40) }),
  fc.record({ act: fc.constant('read'), at: fc.nat(45), length: fc.nat(20) }),
  fc.record({ act: fc.constantFrom('sync', 'stat', 'reopen') }),
)

/** A buffer that is changed in the plainest way. */
function patched(before: Buffer, at: number, piece: string, size = 0): Buffer {
  if (piece === '' && size === 0) return before
  const after = Buffer.alloc(Math.max(before.length, at + piece.length))
  before.copy(after)
  after.write(piece, at)
  return after
}

function resized(before: Buffer, size: number): Buffer {
  const after = Buffer.alloc(size)
  before.copy(after)
  return after
}

for (const [what, create] of Object.entries(subjects)) {
  describe(`an open file of a file system that ${what}`, () => {
    it('reads and stores like a buffer that is changed in place', async () => {
      const property = fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
        const fs = create()
        let file = await openFile(fs, '/f', { write: true })
        let model: Buffer = Buffer.from(FIRST)
        for (const one of steps) {
          switch (one.act) {
            case 'write':
            case 'append': {
              const at = one.act === 'write' ? one.at : model.length
              await file.write(at, bytes(one.text))
              model = patched(model, at, one.text)
              break
            }
            case 'truncate':
              await file.truncate(one.size)
              model = resized(model, one.size)
              break
            case 'read': {
              const expected = model.subarray(one.at, one.at + one.length)
              expect(Buffer.from(await file.read(one.at, one.length))).toEqual(expected)
              break
            }
            case 'stat':
              expect((await file.stat()).size).toBe(model.length)
              break
            default:
              await (one.act === 'sync' ? file.sync() : file.close())
              expect(await readText(fs, '/f')).toBe(model.toString())
              if (one.act === 'reopen') file = await openFile(fs, '/f', { write: true })
          }
        }
        await file.close()
        expect(await readText(fs, '/f')).toBe(model.toString())
      })
      await fc.assert(property, { numRuns: 100 })
    })

    it('is created or truncated on request', async () => {
      const fs = create()
      await using made = await openFile(fs, '/d/new', { write: true, create: true })
      expect(await fs.exists('/d/new')).toBe(true)
      await made.write(2, bytes('x'))
      await made.sync()
      expect(await readText(fs, '/d/new')).toBe('\0\0x')
      const emptied = await openFile(fs, '/f', { write: true, truncate: true })
      expect((await emptied.stat()).size).toBe(0)
      await emptied.close()
      expect(await readText(fs, '/f')).toBe('')
    })

    it('fails for a missing file, for a directory, and for access it was not opened for', async () => {
      const fs = create()
      await fs.mkdir('/d')
      await expect(openFile(fs, '/missing', { write: true })).rejects.toMatchObject({ code: 'ENOENT' })
      await expect(openFile(fs, '/d')).rejects.toMatchObject({ code: 'EISDIR' })
      const file = await openFile(fs, '/f')
      await expect(file.write(0, bytes('x'))).rejects.toMatchObject({ code: 'EBADF' })
      await expect(file.truncate(0)).rejects.toMatchObject({ code: 'EBADF' })
      await expect(file.read(-1, 1)).rejects.toMatchObject({ code: 'EINVAL' })
      await file.close()
      await file.close()
      await expect(file.read(0, 1)).rejects.toMatchObject({ code: 'EBADF' })
      await expect(file.sync()).rejects.toMatchObject({ code: 'EBADF' })
    })
  })
}

describe('openFile', () => {
  it('reads only the requested bytes', async () => {
    const ranges = new PlainFs({ '/f': FIRST }, 'native-read')
    const file = await openFile(ranges, '/f')
    expect(await textAt(file, 4, 5)).toBe('quick')
    expect(await textAt(file, 16, 50)).toBe('fox')
    expect(ranges.asked).toEqual(['read 4+5', 'read 16+50'])
    const streams = new PlainFs({ '/f': FIRST })
    const other = await openFile(streams, '/f')
    for (const at of [0, 5, 10]) expect(await textAt(other, at, 5)).toBe(FIRST.slice(at, at + 5))
    expect(streams.asked).toEqual([`read 0+${Number.MAX_SAFE_INTEGER}`])
  })

  it('appends without reading or rewriting if nothing else changed', async () => {
    const fs = new PlainFs({ '/f': FIRST }, 'append', 'native-read')
    const file = await openFile(fs, '/f', { write: true })
    await file.write(FIRST.length, bytes(' jumps'))
    await file.write(FIRST.length + 6, bytes(' over'))
    await file.write(FIRST.length + 1, bytes('JUMPS'))
    expect(await textAt(file, 16, 9)).toBe('fox JUMPS')
    await file.sync()
    await file.write(FIRST.length + 11, bytes('!'))
    await file.close()
    expect(await readText(fs, '/f')).toBe(`${FIRST} JUMPS over!`)
    expect(fs.asked).toEqual(['read 16+3', 'append 11', 'append 1', 'read all'])
  })

  it('keeps concurrent changes except in the bytes that were written', async () => {
    for (const more of [[], ['append']] as const) {
      const fs = new PlainFs({ '/f': 'one two three' }, ...more)
      const file = await openFile(fs, '/f', { write: true })
      await file.write(4, bytes('TWO'))
      await fs.write('/f', 'ONE two three four')
      await file.close()
      expect(await readText(fs, '/f')).toBe('ONE TWO three four')
      const appended = await openFile(fs, '/f', { write: true })
      await appended.write(18, bytes('!'))
      await fs.write('/f', 'short')
      await appended.close()
      expect(await readText(fs, '/f')).toBe(`short${'\0'.repeat(13)}!`)
    }
  })

  it('restores a file that another writer removed, or fails', async () => {
    const fs = new PlainFs({ '/f': 'one two' }, 'append')
    const file = await openFile(fs, '/f', { write: true })
    await file.write(0, bytes('ONE'))
    await fs.remove('/f')
    await file.close()
    expect(await readText(fs, '/f')).toBe('ONE two')
    const appended = await openFile(fs, '/f', { write: true })
    await appended.write(7, bytes('!'))
    await fs.remove('/f')
    await expect(appended.close()).rejects.toMatchObject({ code: 'ENOENT' })
  })

  it('follows links unless the call refuses them', async () => {
    const fs = new PlainFs({ '/d/f': 'one' }, 'append')
    await fs.symlink('d/f', '/l')
    const file = await openFile(fs, '/l', { write: true })
    expect(await file.stat()).toMatchObject({ type: 'file', size: 3 })
    await file.write(3, bytes('!'))
    await file.close()
    expect(await readText(fs, '/d/f')).toBe('one!')
    expect(await fs.readlink('/l')).toBe('d/f')
    await expect(openFile(fs, '/l', {}, { links: 'refuse' })).rejects.toMatchObject({ code: 'ELOOP' })
  })

  it('rejects writers when the file cannot be written, and leaves the file unchanged', async () => {
    const plain = new PlainFs({ '/f': 'one' })
    const fs = new ReadOnlyFs(plain)
    await expect(openFile(fs, '/f', { write: true })).rejects.toMatchObject({ code: 'EROFS' })
    await expect(openFile(fs, '/g', { create: true })).rejects.toMatchObject({ code: 'EROFS' })
    expect(await textAt(await openFile(fs, '/f'), 0, 10)).toBe('one')
    const writer = await openFile(plain, '/f', { write: true })
    expect(await readText(plain, '/f')).toBe('one')
    await writer.close()
  })

  it('opens natively on the mounts that support it', async () => {
    const table = new MountTable({ '/': new PlainFs({ '/f': 'one' }), '/m': new MemoryFs({ '/f': 'two' }) })
    for (const path of ['/f', '/m/f']) {
      const file = await openFile(table, path, { write: true })
      await file.write(3, bytes('!'))
      await file.close()
    }
    expect([await readText(table, '/f'), await readText(table, '/m/f')]).toEqual(['one!', 'two!'])
  })

  it('runs calls in the order they were issued, awaited or not', async () => {
    const fs = new PlainFs({ '/f': 'abc' })
    const file = await openFile(fs, '/f', { write: true })
    const buffer = bytes('X')
    const done = [file.write(0, buffer), file.truncate(2), file.write(1, bytes('Y')), file.close()]
    buffer.fill(0)
    await Promise.all(done)
    expect(await readText(fs, '/f')).toBe('XY')
  })

  it('neither changes memory of the file system nor returns memory it changes', async () => {
    let stored = Buffer.from('before')
    class OwnMemory extends PlainFs {
      override async *read(): AsyncGenerator<Uint8Array> {
        yield stored
      }
    }
    const fs = new OwnMemory({ '/f': 'before' })
    const file = await openFile(fs, '/f', { write: true })
    await file.write(0, bytes('x'))
    await fs.write('/f', 'theirs')
    stored = Buffer.from('theirs')
    await file.sync()
    const part = await file.read(0, 3)
    await file.write(0, bytes('y'))
    expect([stored.toString(), Buffer.from(part).toString()]).toEqual(['theirs', 'xhe'])
    await file.close()
  })

  it('rejects content over the memory limit', async () => {
    const file = await openFile(new PlainFs({ '/f': 'abc' }), '/f', { write: true })
    await expect(file.write(2 ** 40, bytes('x'))).rejects.toMatchObject({ code: 'EFBIG', path: '/f' })
    await expect(file.truncate(2 ** 40)).rejects.toMatchObject({ code: 'EFBIG', path: '/f' })
  })
})
