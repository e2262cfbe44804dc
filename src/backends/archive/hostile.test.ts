import { deflateRawSync, gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { type FileSystem, MemoryFs, readText } from '../../vfs/index.ts'
import { openTar, openZip, type SkippedEntry, unpack } from './index.ts'

const PATH = '/archive'
const BLOCK = 512
const END = Buffer.alloc(2 * BLOCK)

async function holding(...bytes: readonly Uint8Array[]): Promise<MemoryFs> {
  const fs = new MemoryFs()
  await fs.write(PATH, Buffer.concat(bytes))
  return fs
}

/** A header of a tar with a right checksum, whatever else is wrong with it. */
function tarHeader(name: string, size: number | Uint8Array, type = '0', linkname = ''): Buffer {
  const header = Buffer.alloc(BLOCK)
  header.write(name, 0, 100)
  header.write('0000644\0', 100)
  if (typeof size === 'number') header.write(`${size.toString(8).padStart(11, '0')}\0`, 124)
  else header.set(size, 124)
  header.write('00000000000\0', 136)
  header.write(`        ${type}${linkname}`, 148)
  header.write('ustar\x0000', 257)
  const sum = header.reduce((total, byte) => total + byte, 0)
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148)
  return header
}

/** A pax header with one record. */
function paxHeader(key: string, value: string): Buffer {
  const rest = ` ${key}=${value}\n`
  let length = rest.length
  while (`${length}${rest}`.length !== length) length = `${length}${rest}`.length
  const padded = Buffer.alloc(Math.ceil(length / BLOCK) * BLOCK)
  padded.write(`${length}${rest}`)
  return Buffer.concat([tarHeader('pax', length, 'x'), padded])
}

interface ForgedEntry {
  readonly name: string
  /** Where its local header begins. */
  readonly at: number
  readonly compressed: number
  readonly size: number
}

/** A zip of one deflated file, whose directory says what it is given. */
function forgedZip(content: Uint8Array, entries: (compressed: number) => readonly ForgedEntry[]): Buffer {
  const data = deflateRawSync(content)
  const local = Buffer.alloc(30)
  local.writeUInt32LE(0x04034b50, 0)
  const records = entries(data.length).map(({ name, at, compressed, size }) => {
    const record = Buffer.alloc(46 + name.length)
    record.writeUInt32LE(0x02014b50, 0)
    record.writeUInt16LE(8, 10)
    record.writeUInt32LE(compressed, 20)
    record.writeUInt32LE(size, 24)
    record.writeUInt16LE(name.length, 28)
    record.writeUInt32LE(at, 42)
    record.write(name, 46)
    return record
  })
  const directory = Buffer.concat(records)
  return Buffer.concat([local, data, directory, zipEnd(records.length, local.length + data.length)])
}

function zipEnd(count: number, start: number): Buffer {
  const end = Buffer.alloc(22)
  end.writeUInt32LE(0x06054b50, 0)
  end.writeUInt16LE(count, 10)
  end.writeUInt32LE(start, 16)
  return end
}

async function refusal(opening: Promise<FileSystem>): Promise<string> {
  return opening.then(
    () => 'it was opened',
    (error: Error) => error.message,
  )
}

describe('a hostile tar', () => {
  const negative = Buffer.from('fffffffffffffffffffffe00', 'hex')
  const huge = Buffer.from('807fffffffffffffffffffff', 'hex')

  it.each(['0', '1', '2', 'x', 'g', 'L', 'K', 'S'])(
    'with a negative or huge size in a header of type %s is refused',
    async (type) => {
      for (const size of [negative, huge]) {
        const fs = await holding(tarHeader('f', size, type), tarHeader('g', 1), Buffer.alloc(BLOCK), END)
        expect(await refusal(openTar(fs, PATH))).toMatch(/^(?:EIO|ENOTSUP): /)
      }
    },
  )

  it.each(['-512', 'none', '9007199254740993'])('with a pax size of %s is refused', async (size) => {
    const fs = await holding(paxHeader('size', size), tarHeader('f', 1), Buffer.alloc(BLOCK), END)
    expect(await refusal(openTar(fs, PATH))).toMatch(/^EIO: /)
  })

  it('that exceeds the number of entries is rejected, compressed or not', async () => {
    const tar = Buffer.concat([...Array.from({ length: 11 }, (_, at) => tarHeader(`f${at}`, 0)), END])
    for (const bytes of [tar, gzipSync(tar)]) {
      const fs = await holding(bytes)
      expect(await refusal(openTar(fs, PATH, { maxEntries: 10 }))).toMatch(
        /^EFBIG: the archive has more than 10 entries/,
      )
      expect(await refusal(openTar(fs, PATH, { maxEntries: 11 }))).toBe('it was opened')
    }
  })

  it('of a few kilobytes whose names would fill the memory is rejected', async () => {
    const entry = Buffer.concat([paxHeader('path', 'n'.repeat(4_000_000)), tarHeader('f', 0)])
    const fs = await holding(gzipSync(Buffer.concat(Array.from({ length: 70 }, () => entry))))
    const skipped: SkippedEntry[] = []
    const opening = openTar(fs, PATH, { onSkipped: (one) => skipped.push(one) })
    expect(await refusal(opening)).toMatch(/^EFBIG: the names of the archive have more than \d+ bytes/)
    expect(skipped).toEqual([])
  })

  it('that repeats one file under many names is unpacked up to a limit', async () => {
    const links = Array.from({ length: 99 }, (_, at) => tarHeader(`l${at}`, 0, '1', 'f'))
    const fs = await holding(tarHeader('f', BLOCK), Buffer.alloc(BLOCK), ...links, END)
    const archive = await openTar(fs, PATH)
    const unpacking = unpack(archive, new MemoryFs(), { maxBytes: 99 * BLOCK })
    await expect(unpacking).rejects.toThrow(/^EFBIG: the content has more than 50688 bytes/)
    expect(await unpack(archive, new MemoryFs(), { maxBytes: 100 * BLOCK })).toMatchObject({ files: 100 })
  })
})

describe('a hostile zip', () => {
  it('whose entries share their content is rejected', async () => {
    const zip = forgedZip(new Uint8Array(1_000_000), (compressed) =>
      Array.from({ length: 1000 }, (_, at) => ({ name: `f${at}`, at: 0, compressed, size: 1_000_000 })),
    )
    expect(await refusal(openZip(await holding(zip), PATH))).toMatch(/^EIO: two entries share the bytes at 0/)
  })

  it('with an entry inside the content of another is rejected', async () => {
    const zip = forgedZip(new Uint8Array(1_000_000), (compressed) => [
      { name: 'inner', at: 100, compressed: compressed - 100, size: 1 },
      { name: 'outer', at: 0, compressed, size: 1_000_000 },
    ])
    expect(await refusal(openZip(await holding(zip), PATH))).toMatch(
      /^EIO: two entries share the bytes at 100/,
    )
  })

  it('with impossible sizes has these entries skipped', async () => {
    const skipped: SkippedEntry[] = []
    const zip = forgedZip(Buffer.from('content'), (compressed) => [
      { name: 'claims', at: 0, compressed, size: 0xfffffff0 },
      { name: 'beyond', at: 1000, compressed: 0xfffffff0, size: 10 },
    ])
    const fs = await openZip(await holding(zip), PATH, { onSkipped: (one) => skipped.push(one) })
    expect(skipped.map(({ name }) => name)).toEqual(['claims', 'beyond'])
    expect(await unpack(fs, new MemoryFs())).toMatchObject({ files: 0 })
  })

  it('with more content than an entry declares is rejected by the read that reaches it', async () => {
    const zip = forgedZip(new Uint8Array(5_000_000), (compressed) => [
      { name: 'f', at: 0, compressed, size: 10 },
    ])
    const fs = await openZip(await holding(zip), PATH)
    await expect(readText(fs, '/f')).rejects.toThrow(/^EIO: the entry 'f' is damaged/)
  })

  it('that declares missing entries, or has too many, is rejected', async () => {
    expect(await refusal(openZip(await holding(zipEnd(0xffff, 0)), PATH))).toMatch(/^EIO: /)
    const zip = forgedZip(Buffer.from('x'), (compressed) =>
      Array.from({ length: 11 }, (_, at) => ({ name: `f${at}`, at, compressed, size: 1 })),
    )
    const opening = openZip(await holding(zip), PATH, { maxEntries: 10 })
    expect(await refusal(opening)).toMatch(/^EFBIG: the archive has more than 10 entries/)
  })
})

it('rejects an entry that is too deep, and creates none of its parents', async () => {
  const [deep, most] = ['d/'.repeat(3000), 'd/'.repeat(255)].map((above) => `${above}f`)
  const tar = (name = '') => [paxHeader('path', name), tarHeader('f', 0)]
  const archive = await holding(gzipSync(Buffer.concat([...tar(deep), ...tar(most), END])))
  await expect(openTar(archive, PATH)).rejects.toMatchObject({
    code: 'EINVAL',
    detail: expect.stringContaining('3001 levels; the limit is 256'),
  })
  const skipped: SkippedEntry[] = []
  const opened = await openTar(archive, PATH, { onSkipped: (entry) => void skipped.push(entry) })
  expect(skipped.map(({ name }) => name)).toEqual([deep])
  expect(await unpack(opened, new MemoryFs())).toMatchObject({ files: 1, directories: 255 })
})

it('counts implied directories as entries', async () => {
  const tar = Array.from({ length: 4 }, (_, at) => tarHeader(`${at}/${'d/'.repeat(9)}f`, 0))
  const archive = await holding(...tar, END)
  expect(await refusal(openTar(archive, PATH, { maxEntries: 43 }))).toMatch(
    /^EFBIG: the archive has more than 43 entries; raise maxEntries/,
  )
  expect(await refusal(openTar(archive, PATH, { maxEntries: 44 }))).toBe('it was opened')
})
