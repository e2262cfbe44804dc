import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isVfsError } from '../error.ts'
import type { FileSystem } from '../file-system.ts'
import { readText } from '../helpers/file-content.ts'
import type { Match, SearchQuery } from '../protocols.ts'
import { MemoryFs } from './memory-fs.ts'

async function walked(fs: FileSystem, root = '/', includeDirs = false): Promise<string[]> {
  return (await Array.fromAsync(fs.walk(root, { includeDirs }))).map(({ path }) => path)
}

async function names(fs: FileSystem, path: string): Promise<string[]> {
  return (await Array.fromAsync(fs.readdir(path))).map(({ name }) => name)
}

async function contents(fs: FileSystem): Promise<Map<string, string>> {
  const found = new Map<string, string>()
  for (const path of await walked(fs)) found.set(path, await readText(fs, path))
  return found
}

describe('the seed', () => {
  const EINVAL = expect.objectContaining({ code: 'EINVAL', op: 'seed' })

  it('may be text or bytes, and creates its directories', async () => {
    const fs = new MemoryFs({ '/a/b/text': 'é', '/bytes': Uint8Array.of(1, 2), '/a/.hidden/..x': '' })
    expect(await walked(fs, '/', true)).toEqual([
      '/a',
      '/a/.hidden',
      '/a/.hidden/..x',
      '/a/b',
      '/a/b/text',
      '/bytes',
    ])
    expect((await fs.stat('/a/b/text')).size).toBe(2)
  })

  it('cannot be the root', () => {
    expect(() => new MemoryFs({ '/': 'x' })).toThrow(EINVAL)
    expect(() => new MemoryFs({ '/a/..': 'x' })).toThrow(EINVAL)
  })

  it('cannot contain a file below another file, in either order', () => {
    expect(() => new MemoryFs({ '/a': 'x', '/a/b': 'y' })).toThrow(EINVAL)
    expect(() => new MemoryFs({ '/a/b/c/d': 'y', '/a/b': 'x' })).toThrow(EINVAL)
    expect(() => new MemoryFs({ '/a': 'x', '/ab': 'y', '/a.b': 'z' })).not.toThrow()
  })

  it('cannot name one file twice', () => {
    expect(() => new MemoryFs({ '/a/b': 'x', '/a//b': 'y' })).toThrow(EINVAL)
    expect(() => new MemoryFs({ '/b': 'x', '/a/../b/': 'y' })).toThrow(EINVAL)
  })

  it('cannot have names that no backend could store', () => {
    for (const path of ['', 'a', './a', '/a\0', `/${'x'.repeat(256)}`, '/\ud800']) {
      expect(() => new MemoryFs({ [path]: 'x' }), JSON.stringify(path)).toThrow(
        expect.objectContaining({ code: 'EINVAL' }),
      )
    }
  })

  it('is copied', async () => {
    const bytes = Uint8Array.of(97, 98)
    const fs = new MemoryFs({ '/f': bytes })
    bytes.fill(0)
    expect(await readText(fs, '/f')).toBe('ab')
  })
})

describe('time and mode', () => {
  it('come from the given clock, in forks too', async () => {
    let now = 1000
    const fs = new MemoryFs({}, { now: () => now })
    await fs.write('/f', 'x')
    now = 2000
    const fork = fs.fork()
    await fork.write('/g', 'y')
    expect((await fs.stat('/f')).mtime).toEqual(new Date(1000))
    expect((await fork.stat('/f')).mtime).toEqual(new Date(1000))
    expect((await fork.stat('/g')).mtime).toEqual(new Date(2000))
  })

  it('keep the mode of a file that is overwritten or appended to', async () => {
    const fs = new MemoryFs()
    await fs.write('/f', 'x', { mode: 0o600 })
    await fs.write('/f', 'y')
    await fs.append('/f', 'z')
    expect((await fs.stat('/f')).mode).toBe(0o600)
    await fs.write('/f', 'x', { mode: 0o755 })
    expect((await fs.stat('/f')).mode).toBe(0o755)
  })

  it('cannot be changed through the date that a stat gave', async () => {
    const fs = new MemoryFs({ '/f': 'x' }, { now: () => 1000 })
    ;(await fs.stat('/f')).mtime.setTime(0)
    expect((await fs.stat('/f')).mtime).toEqual(new Date(1000))
  })
})

describe('forks', () => {
  const path = fc.tuple(fc.nat({ max: 2 }), fc.nat({ max: 3 })).map(([dir, file]) => `/d${dir}/f${file}`)
  const command = fc.record({
    kind: fc.constantFrom('write', 'append', 'append', 'remove', 'clear', 'rename', 'fork'),
    on: fc.nat({ max: 4 }),
    path,
    to: path,
    content: fc.constantFrom('', 'x', 'yy', 'z'.repeat(100)),
  })

  it("never see each other's changes, whatever is done to any of them", async () => {
    const property = fc.asyncProperty(fc.array(command, { maxLength: 40 }), async (commands) => {
      const all = [{ fs: new MemoryFs(), model: new Map<string, string>() }]
      for (const { kind, on, path, to, content } of commands) {
        const chosen = all[on % all.length]
        if (chosen === undefined) continue
        const { fs, model } = chosen
        const old = model.get(path)
        if (kind === 'fork' && all.length < 5) all.push({ fs: fs.fork(), model: new Map(model) })
        if (kind === 'write') await fs.write(path, content)
        if (kind === 'append') await fs.append(path, content)
        if (kind === 'write') model.set(path, content)
        if (kind === 'append') model.set(path, (old ?? '') + content)
        if (old === undefined) continue
        if (kind === 'rename') await fs.rename(path, to, { overwrite: true })
        if (kind === 'remove') await fs.remove(path)
        if (kind === 'clear') await fs.remove(path.slice(0, 3), { recursive: true })
        if (kind === 'rename' || kind === 'remove') model.delete(path)
        if (kind === 'rename') model.set(to, old)
        if (kind === 'clear')
          for (const one of [...model.keys()]) if (one.startsWith(path.slice(0, 4))) model.delete(one)
      }
      for (const { fs, model } of all) {
        expect(await contents(fs)).toEqual(new Map([...model].sort(([a], [b]) => (a < b ? -1 : 1))))
      }
    })
    await fc.assert(property, { numRuns: 200 })
  })

  it('keep directories that are empty on one side only', async () => {
    const fs = new MemoryFs({ '/d/f': 'x' })
    const fork = fs.fork()
    await fork.remove('/d/f')
    expect(await walked(fork, '/', true)).toEqual(['/d'])
    expect(await walked(fs, '/', true)).toEqual(['/d', '/d/f'])
  })

  it('keep links, and a link made in a fork is not followed in its origin', async () => {
    const fs = new MemoryFs({ '/real/f': 'x' })
    const fork = fs.fork()
    await fork.symlink('real', '/link')
    expect(await readText(fork.fork(), '/link/f')).toBe('x')
    await fs.write('/link/f', 'mine')
    expect(await readText(fs, '/real/f')).toBe('x')
    expect(await readText(fork, '/link/f')).toBe('x')
  })
})

describe('streams', () => {
  const seed = Object.fromEntries(Array.from({ length: 600 }, (_, i) => [`/d${i % 3}/f${i}`, `${i}`]))

  async function upset(fs: MemoryFs): Promise<void> {
    await fs.remove('/d1', { recursive: true })
    await fs.write('/d0/extra', 'x')
    await fs.write('/d2', 'in the way').catch(() => {})
    for (let i = 0; i < 600; i += 3) await fs.remove(`/d0/f${i}`)
  }

  it('of a walk show one moment, whatever is written later', async () => {
    const fs = new MemoryFs(seed)
    const before = await walked(fs, '/', true)
    const [begun, opened] = [fs.walk('/', { includeDirs: true }), fs.walk('/', { includeDirs: true })]
    const seen: string[] = []
    for await (const { path } of begun) {
      if (seen.push(path) === 5) await upset(fs)
    }
    expect(seen).toEqual(before)
    expect((await Array.fromAsync(opened)).map(({ path }) => path)).toEqual(before)
  })

  it('of a listing show one moment, whatever is written later', async () => {
    const fs = new MemoryFs(seed)
    const before = await names(fs, '/d0')
    const [begun, opened] = [fs.readdir('/d0'), fs.readdir('/d0')]
    const seen: string[] = []
    for await (const { name } of begun) {
      if (seen.push(name) === 5) await upset(fs)
    }
    expect(seen).toEqual(before)
    expect((await Array.fromAsync(opened)).map(({ name }) => name)).toEqual(before)
  })

  it('of a walk give stats of the same moment', async () => {
    const fs = new MemoryFs({ '/a': 'old', '/b': 'old' })
    const sizes: number[] = []
    for await (const { stat } of fs.walk('/')) {
      if (sizes.push(stat.size) === 1) await fs.write('/b', 'much longer')
    }
    expect(sizes).toEqual([3, 3])
  })

  it('of content show the moment they were opened, even before the first step', async () => {
    const fs = new MemoryFs({ '/f': 'old' })
    const [first, second] = [fs.read('/f'), fs.read('/f')]
    await fs.write('/f', 'new')
    expect(Buffer.concat(await Array.fromAsync(first)).toString()).toBe('old')
    await fs.remove('/f')
    expect(Buffer.concat(await Array.fromAsync(second)).toString()).toBe('old')
  })
})

describe('append', () => {
  it('keeps the content of earlier readers, through many appends', async () => {
    const fs = new MemoryFs({ '/log': 'start' })
    const readers: [string, AsyncIterable<Uint8Array>][] = []
    let expected = 'start'
    for (let i = 0; i < 50; i++) {
      readers.push([expected, fs.read('/log', { chunkSize: 7 })])
      await fs.append('/log', `+${i}`)
      expected += `+${i}`
    }
    for (const [content, reader] of readers) {
      expect(Buffer.concat(await Array.fromAsync(reader)).toString()).toBe(content)
    }
    expect(await readText(fs, '/log')).toBe(expected)
  })

  it('on both sides of a fork extends each on its own, from any length', async () => {
    const fs = new MemoryFs({ '/log': 'a' })
    await fs.append('/log', 'b')
    const forks = [fs, fs.fork(), fs.fork()]
    for (let round = 0; round < 40; round++) {
      for (const [index, one] of forks.entries()) await one.append('/log', `${index}`)
    }
    for (const [index, one] of forks.entries()) {
      expect(await readText(one, '/log')).toBe(`ab${`${index}`.repeat(40)}`)
    }
  })

  it('of nothing changes nothing and does not block others', async () => {
    const fs = new MemoryFs({ '/log': 'a' })
    await fs.append('/log', 'b')
    const fork = fs.fork()
    await fs.append('/log', '')
    await fork.append('/log', 'fork')
    await fs.append('/log', 'mine')
    expect([await readText(fs, '/log'), await readText(fork, '/log')]).toEqual(['abmine', 'abfork'])
  })

  it('waits for the writes issued before it', async () => {
    const fs = new MemoryFs()
    const slow = async function* () {
      for (let turn = 0; turn < 20; turn++) await Promise.resolve()
      yield 'slow'
    }
    await Promise.all([
      fs.write('/f', slow()),
      fs.append('/f', '+one'),
      fs.append('/f', slow()),
      fs.append('/f', '!'),
    ])
    expect(await readText(fs, '/f')).toBe('slow+oneslow!')
  })

  it('of a failing source leaves the file unchanged', async () => {
    const fs = new MemoryFs({ '/f': 'old' })
    const broken = async function* () {
      yield 'half'
      throw new Error('the source broke')
    }
    await expect(fs.append('/f', broken())).rejects.toThrow('the source broke')
    await expect(fs.append('/new/f', broken())).rejects.toThrow('the source broke')
    expect(await contents(fs)).toEqual(new Map([['/f', 'old']]))
    expect(await fs.exists('/new')).toBe(false)
  })
})

describe('mutations at the same time', () => {
  async function* slow(content: string): AsyncGenerator<string> {
    for (let turn = 0; turn < 30; turn++) await Promise.resolve()
    yield content
  }

  it('keep their order when a rename is issued between two writes, on either of its paths', async () => {
    const fs = new MemoryFs({ '/a': 'a' })
    await Promise.all([
      fs.write('/b', slow('b')),
      fs.rename('/a', '/b', { overwrite: true }),
      fs.append('/b', '+'),
      fs.write('/a', 'new'),
    ])
    expect(await contents(fs)).toEqual(
      new Map([
        ['/a', 'new'],
        ['/b', 'a+'],
      ]),
    )
  })

  it('do not deadlock when renames cross', async () => {
    const fs = new MemoryFs({ '/a': 'a', '/b': 'b' })
    const crossing = [
      fs.write('/a', slow('A')),
      fs.write('/b', slow('B')),
      fs.rename('/a', '/b', { overwrite: true }),
      fs.rename('/b', '/a'),
      fs.rename('/a', '/a'),
    ]
    await Promise.all(crossing)
    expect(await contents(fs)).toEqual(new Map([['/a', 'A']]))
  })

  it('compare and swap when the content is stored, not when the write starts', async () => {
    const fs = new MemoryFs({ '/d/f': 'old' })
    const ifMatch = await fs.hash('/d/f')
    const overwriting = fs.write('/d/f', slow('stale'), { ifMatch })
    await fs.remove('/d', { recursive: true })
    await expect(overwriting).rejects.toMatchObject({ code: 'ECONFLICT' })
    expect(await fs.exists('/d')).toBe(false)
    const creating = fs.write('/e/f', slow('stale'), { ifMatch: null })
    await fs.write('/x/f', 'moved here')
    await fs.rename('/x', '/e')
    await expect(creating).rejects.toMatchObject({ code: 'ECONFLICT' })
    expect(await readText(fs, '/e/f')).toBe('moved here')
  })

  it('compare and swap one file by two names: exactly one wins', async () => {
    const fs = new MemoryFs({ '/f': 'old' })
    await fs.symlink('f', '/link')
    const ifMatch = await fs.hash('/f')
    const outcomes = await Promise.allSettled([
      fs.write('/link', slow('through the link'), { ifMatch }),
      fs.write('/f', slow('directly'), { ifMatch }),
      fs.write('/f', 'at once', { ifMatch }),
    ])
    expect(outcomes.filter(({ status }) => status === 'fulfilled').length).toBe(1)
  })
})

describe('links', () => {
  it('are resolved from where they are, and stay below the root', async () => {
    const fs = new MemoryFs({ '/a/b/file': 'here', '/file': 'at the root' })
    await fs.symlink('../b/./file', '/a/c/up')
    await fs.symlink('../../../../file', '/a/b/far')
    await fs.symlink('/a', '/a/b/absolute')
    await fs.mkdir('/a/c', { parents: true })
    expect(await readText(fs, '/a/c/up')).toBe('here')
    expect(await readText(fs, '/a/b/far')).toBe('at the root')
    expect(await readText(fs, '/a/b/absolute/b/absolute/c/up')).toBe('here')
  })

  it('let .. in a target leave the directory a link led into', async () => {
    const fs = new MemoryFs({ '/deep/down/f': '', '/deep/marker': 'deep', '/marker': 'root' })
    await fs.symlink('/deep/down', '/short')
    await fs.symlink('short/../marker', '/which')
    expect(await readText(fs, '/which')).toBe('deep')
  })

  it('are listed and walked as links; a walk that starts at one goes on below its name', async () => {
    const fs = new MemoryFs({ '/real/f': 'x' })
    await fs.symlink('real', '/link')
    expect(await Array.fromAsync(fs.readdir('/'))).toEqual([
      { name: 'link', type: 'symlink' },
      { name: 'real', type: 'directory' },
    ])
    expect(await walked(fs)).toEqual(['/link', '/real/f'])
    expect(await walked(fs, '/link')).toEqual(['/link/f'])
  })

  it('that dangle exist, and writing through one makes its target', async () => {
    const fs = new MemoryFs()
    await fs.symlink('made/later', '/link')
    expect(await fs.exists('/link')).toBe(true)
    await fs.write('/link', 'x')
    expect(await readText(fs, '/made/later')).toBe('x')
    expect((await fs.stat('/link')).type).toBe('symlink')
  })

  it('are moved and removed themselves, never what they lead to', async () => {
    const fs = new MemoryFs({ '/dir/f': 'x' })
    await fs.symlink('/dir', '/link')
    await fs.rename('/link', '/moved')
    await fs.remove('/moved', { recursive: true })
    expect(await walked(fs)).toEqual(['/dir/f'])
  })

  it('redirect mutations below them to the real path', async () => {
    const fs = new MemoryFs({ '/real/f': 'x' })
    await fs.symlink('real', '/link')
    await fs.mkdir('/link/sub')
    await fs.append('/link/f', 'y')
    await fs.rename('/link/f', '/link/sub/g')
    await fs.remove('/link/sub/../sub/g')
    expect(await walked(fs, '/real', true)).toEqual(['/real/sub'])
    await expect(fs.rename('/real', '/link/sub/in')).rejects.toMatchObject({ code: 'EINVAL' })
  })

  it('make mkdir fail, even if they dangle', async () => {
    const fs = new MemoryFs({ '/dir/f': '' })
    await fs.symlink('dir', '/link')
    await fs.symlink('nowhere', '/dangling')
    await expect(fs.mkdir('/link')).rejects.toMatchObject({ code: 'EEXIST' })
    await expect(fs.mkdir('/dangling')).rejects.toMatchObject({ code: 'EEXIST', path: '/dangling' })
    expect(await fs.exists('/nowhere')).toBe(false)
  })

  it('cannot have targets with names that could not be stored', async () => {
    for (const target of ['x'.repeat(256), 'nul\0byte', 'lone\ud800', 'x/y\0/z']) {
      const fs = new MemoryFs()
      // Either the link or what is done through it must be refused.
      await fs.symlink(target, '/link').catch(() => {})
      await fs.write('/link', 'x').catch(() => {})
      await fs.append('/link/below', 'x').catch(() => {})
      await fs.mkdir('/link/below', { parents: true }).catch(() => {})
      for (const path of await walked(fs, '/', true)) {
        await expect(fs.exists(path), JSON.stringify(path).slice(0, 30)).resolves.toBe(true)
      }
    }
  })

  it('with a target of any length are followed or rejected with a VfsError', async () => {
    const fs = new MemoryFs({ '/f': 'x' })
    const answer = fs.symlink(`${'./'.repeat(200_000)}f`, '/link').then(() => readText(fs, '/link'))
    expect(await answer.catch((error: unknown) => isVfsError(error))).toSatisfy(
      (seen) => seen === 'x' || seen === true,
    )
  })

  it('that form a cycle are ELOOP anywhere in a path', async () => {
    const fs = new MemoryFs()
    await fs.symlink('self', '/self')
    await expect(readText(fs, '/self')).rejects.toMatchObject({ code: 'ELOOP', path: '/self' })
    await expect(fs.stat('/self/below')).rejects.toMatchObject({ code: 'ELOOP', path: '/self/below' })
    await expect(fs.write('/self/below', 'x')).rejects.toMatchObject({ code: 'ELOOP' })
    expect((await fs.stat('/self')).type).toBe('symlink')
    await fs.remove('/self')
    expect(await walked(fs)).toEqual([])
  })
})

describe('hash', () => {
  it('is correct after every kind of change', async () => {
    const sha = (content: string) => createHash('sha256').update(content).digest('hex')
    const fs = new MemoryFs({ '/f': 'a' })
    expect([await fs.hash('/f'), await fs.hash('/f')]).toEqual([sha('a'), sha('a')])
    await fs.append('/f', 'b')
    expect(await fs.hash('/f')).toBe(sha('ab'))
    const fork = fs.fork()
    await fs.append('/f', 'c')
    await fork.write('/f', 'd')
    expect([await fs.hash('/f'), await fork.hash('/f')]).toEqual([sha('abc'), sha('d')])
    await fs.rename('/f', '/g')
    expect(await fs.hash('/g')).toBe(sha('abc'))
  })
})

describe('search', () => {
  async function found(content: string | Uint8Array, query: SearchQuery): Promise<Match[]> {
    return Array.fromAsync(new MemoryFs({ '/f': content }).search('/', query))
  }
  const textsOf = async (content: string | Uint8Array, pattern: string | RegExp) =>
    (await found(content, { pattern })).map(({ text }) => text)

  it('numbers lines from 1, with or without a newline at the end', async () => {
    expect((await found('x\n\nx', { pattern: 'x' })).map(({ line }) => line)).toEqual([1, 3])
    expect((await found('x\nx\n', { pattern: 'x' })).map(({ line }) => line)).toEqual([1, 2])
    expect(await textsOf('\n\n', '')).toEqual(['', ''])
    expect(await textsOf('', '')).toEqual([])
  })

  it('drops the carriage return of a CRLF and keeps any other', async () => {
    expect(await textsOf('one\r\ntwo\r\n', /^(one|two)$/)).toEqual(['one', 'two'])
    expect(await textsOf('a\rb\r\r\n', 'a')).toEqual(['a\rb\r'])
    expect(await textsOf('x\r', 'x')).toEqual(['x'])
  })

  it('ignores and keeps the lastIndex of a pattern with g or y', async () => {
    for (const flags of ['g', 'y', 'gy']) {
      const pattern = new RegExp('ab', flags)
      pattern.lastIndex = 1
      expect(await textsOf('ab\nab\nab', pattern)).toEqual(['ab', 'ab', 'ab'])
      expect(pattern.lastIndex).toBe(1)
    }
  })

  it('ignores case when the pattern does', async () => {
    expect(await textsOf('Needle\nneedle\nNEEDLE\nother', /needle/i)).toEqual(['Needle', 'needle', 'NEEDLE'])
    expect(await textsOf('Needle\nneedle', /needle/)).toEqual(['needle'])
  })

  it('finds either side of an alternation anywhere in the pattern', async () => {
    expect(await textsOf('one\ntwo\nthree', /one|two/)).toEqual(['one', 'two'])
    expect(await textsOf('ab\nac', /a(?:b|c)/)).toEqual(['ab', 'ac'])
  })

  it('finds lines without the optional characters of a pattern', async () => {
    expect(await textsOf('ac\nabc\nabbc', /ab?c/)).toEqual(['ac', 'abc'])
    expect(await textsOf('needle-\nneedle-12\nneedle', /needle-\d*/)).toEqual(['needle-', 'needle-12'])
    expect(await textsOf('ac', /ab*c/)).toEqual(['ac'])
    expect(await textsOf('ac', /ab{0,3}c/)).toEqual(['ac'])
    expect(await textsOf('ac', /ab{0}c/)).toEqual(['ac'])
  })

  it('finds lines with and without an optional emoji of a pattern', async () => {
    expect(await textsOf('go 🎉 now', /go 🎉? ?now/u)).toEqual(['go 🎉 now'])
    expect(await textsOf('go now', /go 🎉? ?now/u)).toEqual(['go now'])
    expect(await textsOf('🎉🎉', /🎉*$/u)).toEqual(['🎉🎉'])
  })

  it('finds the replacement character where the content is not valid UTF-8', async () => {
    const decoded = 'a\ufffdb'
    for (const pattern of [decoded, new RegExp(decoded)]) {
      expect(await textsOf(Uint8Array.of(97, 0xff, 98), pattern)).toEqual([decoded])
    }
  })

  it('clips its context at the ends of the file', async () => {
    const query = { pattern: 'x', before: 2, after: 2 }
    expect(await found('x\na\nb\nc\nx', query)).toEqual([
      { path: '/f', line: 1, text: 'x', before: [], after: ['a', 'b'] },
      { path: '/f', line: 5, text: 'x', before: ['b', 'c'], after: [] },
    ])
  })

  it('searches a single file, also through a link', async () => {
    const fs = new MemoryFs({ '/d/f': 'x' })
    await fs.symlink('d', '/link')
    const paths = async (root: string) =>
      (await Array.fromAsync(fs.search(root, { pattern: 'x' }))).map(({ path }) => path)
    expect(await paths('/d/f')).toEqual(['/d/f'])
    expect(await paths('/link')).toEqual(['/link/f'])
    expect(await paths('/')).toEqual(['/d/f'])
  })

  describe('for any pattern', () => {
    const unit = fc.constantFrom('a', 'b', 'é', '🎉', '-', '\r')
    const text = fc.array(
      fc.array(unit, { maxLength: 6 }).map((all) => all.join('')),
      { maxLength: 6 },
    )
    const atom = fc.constantFrom(
      'a',
      'b',
      'é',
      '🎉',
      '-',
      '.',
      '\\d',
      '[ab]',
      '(?:a|b)',
      '(b)',
      '^',
      '$',
      '\\b',
      '|',
    )
    const quantifier = fc.constantFrom('', '', '', '?', '*', '+', '{0}', '{0,1}', '{2}', '??', '*?')
    const source = fc
      .array(fc.tuple(atom, quantifier), { minLength: 1, maxLength: 4 })
      .map((parts) => parts.map(([what, many]) => what + many).join(''))
    const pattern = fc
      .tuple(source, fc.constantFrom('', 'g', 'i', 'u', 'iu', 'gi', 's', 'm', 'v'))
      .map(([body, flags]) => compiled(body, flags))
      .filter((regexp) => regexp !== null)

    function compiled(body: string, flags: string): RegExp | null {
      try {
        return new RegExp(body, flags)
      } catch {
        return null
      }
    }

    /** What reading the file and trying every line would find. */
    function naive(lines: readonly string[], isMatch: (line: string) => boolean): string[] {
      const all = lines.join('\n').split('\n')
      if (all.at(-1) === '') all.pop()
      return all.map((line) => line.replace(/\r$/, '')).filter(isMatch)
    }

    it('a regular expression finds what a naive scan does', async () => {
      const property = fc.asyncProperty(text, pattern, async (lines, regexp) => {
        const stateless = new RegExp(regexp.source, regexp.flags.replace('g', ''))
        expect(await textsOf(lines.join('\n'), regexp)).toEqual(naive(lines, (line) => stateless.test(line)))
      })
      await fc.assert(property, { numRuns: 1500 })
    })

    it('a literal string finds what a naive scan does', async () => {
      const literal = fc.array(fc.oneof(unit, fc.constantFrom('.', '*', '|', '(', '')), { maxLength: 3 })
      const property = fc.asyncProperty(text, literal, async (lines, parts) => {
        const wanted = parts.join('')
        expect(await textsOf(lines.join('\n'), wanted)).toEqual(naive(lines, (line) => line.includes(wanted)))
      })
      await fc.assert(property, { numRuns: 500 })
    })
  })

  describe('of much content', () => {
    const megabyte = 'nothing to see\n'.repeat(70_000)
    const seed = Object.fromEntries(Array.from({ length: 12 }, (_, i) => [`/f${i}`, megabyte]))

    it('lets other work run', async () => {
      const fs = new MemoryFs(seed)
      let hasRun = false
      setImmediate(() => {
        hasRun = true
      })
      expect(await Array.fromAsync(fs.search('/', { pattern: /see nothing/ }))).toEqual([])
      expect(hasRun).toBe(true)
    })

    it('stops when its signal is aborted, though it has found nothing', async () => {
      const fs = new MemoryFs(seed)
      const controller = new AbortController()
      setImmediate(() => controller.abort(new Error('enough')))
      const search = fs.search('/', { pattern: /see nothing/ }, { signal: controller.signal })
      await expect(Array.fromAsync(search)).rejects.toThrow('enough')
    })
  })
})

describe('size', () => {
  it('in depth: 3,000 levels work throughout', async () => {
    const fs = new MemoryFs()
    const top = '/d'.repeat(3000)
    await fs.write(`${top}/file`, 'deep')
    expect(await readText(fs, `${top}/file`)).toBe('deep')
    expect(await walked(fs)).toEqual([`${top}/file`])
    expect((await walked(fs, '/', true)).length).toBe(3001)
    await fs.symlink('d', '/link')
    expect(await readText(fs, `/link${'/d'.repeat(2999)}/file`)).toBe('deep')
    expect((await Array.fromAsync(fs.search('/', { pattern: 'deep' }))).length).toBe(1)
    const fork = fs.fork()
    await fork.remove('/d', { recursive: true })
    expect(await walked(fork, '/', true)).toEqual(['/link'])
    expect(await fs.exists(top)).toBe(true)
  })

  it('in breadth: 100,000 entries of one directory', async () => {
    const all = Array.from({ length: 100_000 }, (_, i) => `/d/f${i}`)
    const fs = new MemoryFs(Object.fromEntries(all.map((path) => [path, ''])))
    const listed = await names(fs, '/d')
    expect(listed.length).toBe(100_000)
    expect(listed.findIndex((name, at) => at > 0 && name <= (listed[at - 1] ?? ''))).toBe(-1)
    const fork = fs.fork()
    for (const path of all.slice(0, 1000)) await fork.remove(path)
    expect((await names(fork, '/d')).length).toBe(99_000)
    expect(await fs.exists('/d/f0')).toBe(true)
  })
})
