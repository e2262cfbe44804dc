import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { gzipSync, zstdCompressSync } from 'node:zlib'
import fc from 'fast-check'
import { type Header, pack } from 'tar-stream'
import { afterAll, describe, expect, it } from 'vitest'
import { fileSystemSuite } from '../../conformance/index.ts'
import {
  collect,
  type FileSystem,
  isLinkable,
  MemoryFs,
  MountTable,
  readFile,
  readText,
  tree,
} from '../../vfs/index.ts'
import { type ArchiveFs, openTar, openZip, packTar, packZip, type SkippedEntry } from './index.ts'

const scratch = mkdtempSync(join(tmpdir(), 'coppice-archive-'))
afterAll(() => rmSync(scratch, { recursive: true, force: true }))

const PATH = '/archive'
const formats = {
  tar: { packed: (fs: FileSystem) => collect(packTar(fs)), open: openTar },
  'tar.gz': { packed: (fs: FileSystem) => collect(packTar(fs, { gzip: true })), open: openTar },
  'tar.zst': {
    packed: async (fs: FileSystem) => zstdCompressSync(await collect(packTar(fs))),
    open: openTar,
  },
  zip: { packed: (fs: FileSystem) => collect(packZip(fs)), open: openZip },
} as const

async function holding(bytes: Uint8Array): Promise<MemoryFs> {
  const fs = new MemoryFs()
  await fs.write(PATH, bytes)
  return fs
}

/** What a tree holds: type, mode and target or content of each path. */
async function contentOf(fs: FileSystem): Promise<Record<string, unknown>> {
  const found: Record<string, unknown> = {}
  for await (const { path, stat } of fs.walk('/', { includeDirs: true })) {
    const what =
      stat.type === 'symlink' && isLinkable(fs)
        ? await fs.readlink(path)
        : stat.type === 'file' && Buffer.from(await readFile(fs, path)).toString('base64')
    found[path] = [stat.type, stat.mode, stat.mtime.getTime(), what]
  }
  return found
}

for (const [name, { packed, open }] of Object.entries(formats)) {
  fileSystemSuite(
    { describe, it },
    {
      name: `an archive (${name})`,
      create: async (seed) => open(await holding(await packed(new MemoryFs(seed))), PATH),
    },
  )

  describe(name, () => {
    it('restores what was packed: content, modes, times to the second, links, empty directories', async () => {
      const part = fc.stringMatching(/^[a-zé .\n]{1,12}$/).filter((text) => text !== '.' && text !== '..')
      const path = fc.array(part, { minLength: 1, maxLength: 3 }).map((parts) => `/${parts.join('/')}`)
      const entry = fc.record({
        path,
        content: fc.uint8Array({ maxLength: 3000 }),
        kind: fc.constantFrom('file', 'file', 'link', 'directory'),
        mode: fc.constantFrom(0, 0o600, 0o644, 0o755),
      })
      await fc.assert(
        fc.asyncProperty(fc.array(entry, { maxLength: 12, size: 'max' }), async (entries) => {
          const fs = new MemoryFs({}, { now: () => 1_600_000_000_000 })
          for (const { path: at, content, kind, mode } of entries) {
            const made =
              kind === 'file'
                ? fs.write(at, content, { mode })
                : kind === 'link'
                  ? fs.symlink('../some/where', at)
                  : fs.mkdir(at, { parents: true, mode: 0o750 })
            await made.catch(() => {})
          }
          const archive = await open(await holding(await packed(fs)), PATH)
          expect(await contentOf(archive)).toEqual(await contentOf(fs))
        }),
        { numRuns: 30 },
      )
    })

    it('gives the same bytes for the same tree', async () => {
      const fs = new MemoryFs({ '/b': 'two', '/a/c': 'one' }, { now: () => 1_700_000_000_000 })
      expect(Buffer.compare(await packed(fs), await packed(fs.fork()))).toBe(0)
    })

    it('reports what is wrong with a file that is no archive', async () => {
      const fs = await holding(Buffer.from('certainly not an archive of any kind '.repeat(40)))
      await expect(open(fs, PATH)).rejects.toMatchObject({ code: 'EIO', path: PATH })
    })

    it('can be mounted beside other file systems and read by range', async () => {
      const archive = await open(await holding(await packed(new MemoryFs({ '/d/f': '0123456789' }))), PATH)
      const table = new MountTable({ '/': new MemoryFs(), '/old': archive })
      expect(await tree(table)).toContain('old')
      const some = await collect(table.read('/old/d/f', { byteRange: [3, 4] }))
      expect(Buffer.from(some).toString()).toBe('3456')
      await expect(table.write('/old/d/f', 'x')).rejects.toMatchObject({ code: 'EROFS' })
    })
  })
}

/** A tar with entries as somebody else would write them. */
async function tarOf(
  ...entries: readonly (readonly [Pick<Header, 'name'> & Partial<Header>, string?])[]
): Promise<Uint8Array> {
  const archive = pack()
  for (const [header, content] of entries) archive.entry(header, content ?? '')
  archive.finalize()
  return collect(Readable.from(archive))
}

/** A zip in whose raw bytes one name is replaced by another of the same length: no writer would let it pass. */
async function forgedZip(seed: Record<string, string>, name: string, forged: string): Promise<Uint8Array> {
  const bytes = Buffer.from(await collect(packZip(new MemoryFs(seed))))
  const text = bytes.toString('latin1').replaceAll(name, forged)
  return Buffer.from(text, 'latin1')
}

describe('an entry that leads elsewhere', () => {
  const unsafe: readonly (readonly [string, () => Promise<ArchiveFs>])[] = [
    ["'..' in a tar", async () => openTar(await holding(await tarOf([{ name: '../evil' }, 'x'])), PATH)],
    [
      "'..' inside a name",
      async () => openTar(await holding(await tarOf([{ name: 'a/../../evil' }, 'x'])), PATH),
    ],
    [
      'an absolute name in a tar',
      async () => openTar(await holding(await tarOf([{ name: '/etc/evil' }, 'x'])), PATH),
    ],
    [
      "'..' in a zip",
      async () => openZip(await holding(await forgedZip({ '/aa/evil': 'x' }, 'aa/evil', '../evil')), PATH),
    ],
    [
      'an absolute name in a zip',
      async () =>
        openZip(await holding(await forgedZip({ '/aetc/evil': 'x' }, 'aetc/evil', '/etc/evil')), PATH),
    ],
    [
      'a backslash in a zip',
      async () => openZip(await holding(await forgedZip({ '/aa/evil': 'x' }, 'aa/evil', '..\\evil')), PATH),
    ],
    [
      'a name through a link of the archive',
      async () =>
        openTar(
          await holding(
            await tarOf([{ name: 'out', type: 'symlink', linkname: '/etc' }], [{ name: 'out/evil' }, 'x']),
          ),
          PATH,
        ),
    ],
    [
      'a second name of something outside',
      async () =>
        openTar(
          await holding(await tarOf([{ name: 'x', type: 'link', linkname: '../../etc/passwd' }])),
          PATH,
        ),
    ],
  ]

  it.each(unsafe)('is rejected with its name: %s', async (_, open) => {
    await expect(open()).rejects.toMatchObject({
      code: 'EINVAL',
      message: expect.stringMatching(/the entry '.*' is rejected/),
    })
  })

  it('is skipped and reported with onSkipped', async () => {
    const skipped: SkippedEntry[] = []
    const bytes = await tarOf(
      [{ name: '../evil' }, 'x'],
      [{ name: './good/', type: 'directory' }],
      [{ name: 'good/f' }, 'y'],
    )
    const fs = await openTar(await holding(bytes), PATH, { onSkipped: (entry) => skipped.push(entry) })
    expect(skipped).toEqual([{ name: '../evil', reason: expect.stringContaining('..') }])
    expect(Object.keys(await contentOf(fs))).toEqual(['/good', '/good/f'])
  })

  it('is served if it is only a link that points out, which is followed inside', async () => {
    const bytes = await tarOf(
      [{ name: 'etc/passwd' }, 'of the archive'],
      [{ name: 'link', type: 'symlink', linkname: '../../etc/passwd' }],
    )
    const fs = await openTar(await holding(bytes), PATH)
    expect(await fs.readlink('/link')).toBe('../../etc/passwd')
    expect(await readText(fs, '/link')).toBe('of the archive')
  })
})

describe('what is packed', () => {
  it('keeps times before 1970 and after 2038 in a tar; a zip has the nearest possible', async () => {
    for (const year of [1960, 2040]) {
      const time = Date.UTC(year, 5, 5)
      const fs = new MemoryFs({ '/a': 'x' }, { now: () => time })
      const tar = await openTar(await holding(await formats.tar.packed(fs)), PATH)
      expect((await tar.stat('/a')).mtime).toEqual(new Date(time))
      const zip = await openZip(await holding(await formats.zip.packed(fs)), PATH)
      expect((await zip.stat('/a')).mtime).toEqual(new Date(year < 1970 ? 0 : (2 ** 31 - 1) * 1000))
    }
  })

  it('has no name that a zip would change', async () => {
    for (const name of ['a\\b', 'c:d']) {
      const packing = collect(packZip(new MemoryFs({ [`/${name}`]: 'x' })))
      await expect(packing).rejects.toMatchObject({ code: 'EINVAL', path: `/${name}` })
    }
  })

  it('is a single file on request, and ENOENT for a missing one', async () => {
    const fs = new MemoryFs({ '/a/b': 'x' })
    for (const { pack, open } of [
      { pack: packTar, open: openTar },
      { pack: packZip, open: openZip },
    ]) {
      const archive = await open(await holding(await collect(pack(fs, { root: '/a/b' }))), PATH)
      expect(await readText(archive, '/b')).toBe('x')
      await expect(collect(pack(fs, { root: '/none' }))).rejects.toMatchObject({ code: 'ENOENT' })
    }
  })

  it('stops when the call is aborted, at any file', async () => {
    const fs = new MemoryFs({ '/a': Buffer.alloc(3_000_000, 'x'), '/b': 'x' })
    for (const pack of [packTar, packZip]) {
      const controller = new AbortController()
      const onEntry = () => controller.abort(new Error('enough'))
      const packing = collect(pack(fs, { onEntry }, { signal: controller.signal }))
      await expect(packing).rejects.toThrow('enough')
    }
  })

  it('can be opened through a link', async () => {
    const fs = await holding(await formats.tar.packed(new MemoryFs({ '/a': 'x' })))
    await fs.symlink(PATH, '/link')
    expect(await readText(await openTar(fs, '/link'), '/a')).toBe('x')
  })
})

describe('packing what changes meanwhile', () => {
  it.each([
    ['tar', packTar],
    ['zip', packZip],
  ])('fails with the path of a file that is gone: %s', async (_, packing) => {
    const fs = new MemoryFs({ '/a': 'first', '/b': 'second' })
    const onEntry = (path: string) => {
      if (path === '/a') void fs.remove('/b')
    }
    await expect(collect(packing(fs, { onEntry }))).rejects.toMatchObject({ code: 'ENOENT', path: '/b' })
  })

  it('fails if a file grows or shrinks', async () => {
    const fs = new MemoryFs({ '/a': 'first', '/b': 'second' })
    const onEntry = (path: string) => {
      if (path === '/a') void fs.write('/b', 'much longer than before')
    }
    await expect(collect(packTar(fs, { onEntry }))).rejects.toMatchObject({ code: 'EIO', path: '/b' })
  })
})

describe('damage and deceit', () => {
  it('a changed byte of a zip is detected by the read that reaches it', async () => {
    const bytes = Buffer.from(await collect(packZip(new MemoryFs({ '/f': 'x'.repeat(100) + Math.PI }))))
    const content = 30 + bytes.readUInt16LE(26) + bytes.readUInt16LE(28) // after the header, the name and its extra
    const at = content + 9
    bytes.writeUInt8(bytes.readUInt8(at) ^ 1, at)
    const fs = await openZip(await holding(bytes), PATH)
    await expect(readText(fs, '/f')).rejects.toMatchObject({ code: 'EIO' })
  })

  it('a truncated archive is rejected', async () => {
    const bytes = await collect(packTar(new MemoryFs({ '/f': 'x'.repeat(5000) })))
    await expect(openTar(await holding(bytes.subarray(0, 3000)), PATH)).rejects.toMatchObject({ code: 'EIO' })
    const zipped = gzipSync(bytes)
    const half = zipped.subarray(0, zipped.length - 20)
    await expect(openTar(await holding(half), PATH)).rejects.toMatchObject({ code: 'EIO' })
  })

  it('a compressed archive that exceeds the limit is rejected', async () => {
    const bytes = gzipSync(await collect(packTar(new MemoryFs({ '/zeros': new Uint8Array(1_000_000) }))))
    expect(bytes.length).toBeLessThan(10_000)
    await expect(openTar(await holding(bytes), PATH, { maxBytes: 500_000 })).rejects.toMatchObject({
      code: 'EFBIG',
    })
  })

  it('two hard links that refer to each other are rejected', async () => {
    const bytes = await tarOf(
      [{ name: 'a', type: 'link', linkname: 'b' }],
      [{ name: 'b', type: 'link', linkname: 'a' }],
    )
    await expect(openTar(await holding(bytes), PATH)).rejects.toMatchObject({ code: 'EINVAL' })
  })

  it('thousands of hard links, each to the one before, are followed once each', async () => {
    const count = 20_000
    const links = Array.from({ length: count }, (_, at) => {
      return [{ name: `f${at + 1}`, type: 'link', linkname: `f${at}` }] as const
    })
    const fs = await openTar(await holding(await tarOf([{ name: 'f0' }, 'x'], ...links)), PATH)
    expect(await readText(fs, `/f${count}`)).toBe('x')
  })

  it('an invalid time is read as the epoch', async () => {
    const header = { name: 'a', mtime: new Date(0), pax: { mtime: 'then' } }
    const fs = await openTar(await holding(await tarOf([header])), PATH)
    expect((await fs.stat('/a')).mtime).toEqual(new Date(0))
  })

  it('a link with an unstorable target is skipped and reported', async () => {
    const skipped: SkippedEntry[] = []
    const bytes = await tarOf(
      [{ name: 'l', type: 'symlink', linkname: 'y'.repeat(300) }],
      [{ name: 'f' }, 'x'],
    )
    const fs = await openTar(await holding(bytes), PATH, { onSkipped: (entry) => skipped.push(entry) })
    expect(Object.keys(await contentOf(fs))).toEqual(['/f'])
    expect(skipped).toEqual([{ name: 'l', reason: expect.stringMatching(/target/) }])
  })

  it('of two entries with one name the later counts', async () => {
    const fs = await openTar(await holding(await tarOf([{ name: 'f' }, 'old'], [{ name: 'f' }, 'new'])), PATH)
    expect(await readText(fs, '/f')).toBe('new')
  })
})

describe('programs of others', () => {
  it('tar unpacks what was packed, and packs what is opened, hard links included', async () => {
    const long = `/${'long-name/'.repeat(14)}file`
    const fs = new MemoryFs({ '/a/b.txt': 'hello', [long]: 'deep' })
    await fs.symlink('a/b.txt', '/link')
    const [file, out] = [join(scratch, 'ours.tar.gz'), mkdtempSync(join(scratch, 'out-'))]
    writeFileSync(file, await collect(packTar(fs, { gzip: true })))
    execFileSync('tar', ['xzf', file, '-C', out])
    expect(readFileSync(join(out, 'link'), 'utf8')).toBe('hello')
    execFileSync('ln', [join(out, 'a/b.txt'), join(out, 'second')])
    execFileSync('tar', ['czf', join(scratch, 'theirs.tgz'), '-C', out, '.'])
    const back = await openTar(await holding(readFileSync(join(scratch, 'theirs.tgz'))), PATH)
    expect(await readText(back, long)).toBe('deep')
    expect(await readText(back, '/second')).toBe('hello')
    expect(await readText(back, '/a/b.txt')).toBe('hello')
    expect((await back.stat('/link')).type).toBe('symlink')
  })

  it('a sparse archive of GNU tar is rejected, not misread', async () => {
    const out = mkdtempSync(join(scratch, 'sparse-'))
    execFileSync('sh', ['-c', 'truncate -s 1M f; echo end >> f; tar cSf ../sparse.tar f'], { cwd: out })
    const fs = await holding(readFileSync(join(scratch, 'sparse.tar')))
    await expect(openTar(fs, PATH)).rejects.toMatchObject({
      code: 'ENOTSUP',
      message: expect.stringContaining("'f'"),
    })
  })
})
