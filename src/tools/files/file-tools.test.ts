import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import { HostFs } from '../../backends/host/index.ts'
import { MemoryFs, OverlayFs, readText } from '../../vfs/index.ts'
import { createToolRegistry } from '../tool-registry.ts'

type Files = Readonly<Record<string, string | Uint8Array>>

function toolsOn(files: Files): (name: string, args: object) => Promise<string> {
  const tools = createToolRegistry({ fs: new MemoryFs(files) })
  return async (name, args) => (await tools.call(name, args)).text
}

const ten = Array.from({ length: 10 }, (_, index) => `line ${index + 1}\n`).join('')

describe('file_head, file_tail and file_lines', () => {
  const call = toolsOn({
    '/ten': ten,
    '/open': 'a\nb',
    '/empty': '',
    '/crlf': 'a\r\nb\r\n',
    '/blank': '\n\n',
  })

  it.each<[string, object, string]>([
    ['file_head', { path: 'vfs:///ten', lines: 2 }, 'line 1\nline 2'],
    ['file_head', { path: 'vfs:///ten' }, ten.trimEnd()],
    ['file_head', { path: 'vfs:///open', lines: 9 }, 'a\nb'],
    ['file_head', { path: 'vfs:///empty' }, '(the file is empty)'],
    ['file_head', { path: 'vfs:///crlf' }, 'a\nb'],
    ['file_head', { path: 'vfs:///blank' }, '\n'],
    ['file_tail', { path: 'vfs:///ten', lines: 2 }, 'line 9\nline 10'],
    ['file_tail', { path: 'vfs:///ten', lines: 10 }, ten.trimEnd()],
    ['file_tail', { path: 'vfs:///open', lines: 1 }, 'b'],
    ['file_tail', { path: 'vfs:///empty' }, '(the file is empty)'],
    ['file_tail', { path: 'vfs:///crlf', lines: 1 }, 'b'],
    ['file_lines', { path: 'vfs:///ten', start: 3, end: 4 }, 'line 3\nline 4'],
    ['file_lines', { path: 'vfs:///ten', start: 10, end: 99 }, 'line 10'],
    ['file_lines', { path: 'vfs:///ten', start: 1, end: 1 }, 'line 1'],
  ])('%s %j', async (name, args, text) => {
    expect(await call(name, args)).toBe(text)
  })

  it.each<[object, string]>([
    [{ start: 0, end: 1 }, "'start': lines are counted from 1; given: 0"],
    [{ start: 4, end: 3 }, "'end': must not be less than start; given: 3"],
    [{ start: 11, end: 12 }, 'there is no line 11: the file has 10 lines'],
  ])('refuse the lines %j', async (range, message) => {
    expect(await call('file_lines', { path: 'vfs:///ten', ...range })).toContain(message)
  })

  it('return the same lines for any file and any chunk borders', async () => {
    const line = fc.string({ unit: fc.constantFrom('a', 'é', '😀', ' '), maxLength: 5 })
    await fc.assert(
      fc.asyncProperty(fc.array(line, { minLength: 1, maxLength: 40 }), fc.nat(40), async (lines, count) => {
        const padding = 'x'.repeat(65_530)
        const all = [padding, ...lines, padding.slice(0, 30_000), ...lines]
        const on = toolsOn({ '/f': `${all.join('\n')}\n` })
        const some = { path: 'vfs:///f', lines: count + 1 }
        expect(await on('file_head', some)).toBe(all.slice(0, count + 1).join('\n'))
        expect(await on('file_tail', some)).toBe(all.slice(-count - 1).join('\n'))
        const range = { path: 'vfs:///f', start: 2, end: count + 2 }
        expect(await on('file_lines', range)).toBe(all.slice(1, count + 2).join('\n'))
      }),
      { numRuns: 30 },
    )
  })

  it('read UTF-16 as text', async () => {
    const little = Buffer.from(`\ufeff${ten}`, 'utf16le')
    const on = toolsOn({ '/le': little, '/be': Buffer.from(little).swap16() })
    for (const name of ['le', 'be']) {
      expect(await on('file_head', { path: `vfs:///${name}`, lines: 1 })).toBe('line 1')
      expect(await on('file_tail', { path: `vfs:///${name}`, lines: 1 })).toBe('line 10')
    }
  })

  it('refuse binary files, directories and missing files, with advice', async () => {
    const on = toolsOn({ '/binary': Uint8Array.of(1, 0, 2), '/dir/file': 'x' })
    for (const name of ['file_head', 'file_tail', 'file_read']) {
      expect(await on(name, { path: 'vfs:///binary' })).toContain('a binary file, not text')
      expect(await on(name, { path: 'vfs:///dir' })).toContain(
        'a directory, not a file; list it with vfs_list',
      )
      expect(await on(name, { path: 'vfs:///nope' })).toContain('ENOENT')
    }
  })

  it('follow a link to its file', async () => {
    const fs = new MemoryFs({ '/ten': ten })
    await fs.symlink('/ten', '/link')
    const tools = createToolRegistry({ fs })
    expect((await tools.call('file_tail', { path: 'vfs:///link', lines: 1 })).text).toBe('line 10')
  })
})

describe('file_read', () => {
  const call = toolsOn({ '/ten': ten, '/empty': '' })

  it('numbers lines as file_edit counts them, and says where to continue', async () => {
    expect(await call('file_read', { path: 'vfs:///ten', offset: 9 })).toBe('     9\tline 9\n    10\tline 10')
    expect(await call('file_read', { path: 'vfs:///ten', offset: 2, limit: 1 })).toBe(
      '     2\tline 2\n… (more follows: continue with offset 3)',
    )
  })

  it('returns plain text on request', async () => {
    expect(await call('file_read', { path: 'vfs:///ten', numbered: false })).toBe(ten)
  })

  it('distinguishes an empty file from an offset past the end', async () => {
    expect(await call('file_read', { path: 'vfs:///empty' })).toBe('(the file is empty)')
    expect(await call('file_read', { path: 'vfs:///ten', offset: 11 })).toContain('there is no line 11')
  })
})

describe('write_file', () => {
  it('creates a file and its directories, or replaces one, and says which', async () => {
    const fs = new MemoryFs()
    const tools = createToolRegistry({ fs })
    const path = 'vfs:///a/b/c.txt'
    expect((await tools.call('write_file', { path, content: 'é' })).text).toBe(`made ${path}, 2 bytes`)
    expect((await tools.call('write_file', { path, content: '' })).text).toBe(
      `replaced ${path}, 0 bytes (it had 2)`,
    )
    expect(await readText(fs, '/a/b/c.txt')).toBe('')
  })

  it('refuses a NUL, which makes a file unreadable for tools', async () => {
    const on = toolsOn({})
    const refused = await on('write_file', { path: 'vfs:///f', content: 'a\0b' })
    expect(refused).toContain("EINVAL: 'content' contains a NUL character")
    expect(await on('vfs_info', { path: 'vfs:///f' })).toContain('ENOENT')
  })

  it('refuses invalid Unicode, and a directory', async () => {
    const fs = new MemoryFs({ '/dir/f': '' })
    const tools = createToolRegistry({ fs })
    const half = await tools.call('write_file', { path: 'vfs:///x', content: '\ud800' })
    expect(half.error?.code).toBe('EINVAL')
    expect(await fs.exists('/x')).toBe(false)
    const directory = await tools.call('write_file', { path: 'vfs:///dir', content: '' })
    expect(directory.error).toMatchObject({ code: 'EISDIR', path: 'vfs:///dir' })
  })
})

describe('file_grep', () => {
  const call = toolsOn({
    '/a.txt': 'one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\nten\n',
    '/d/b.txt': 'alpha\r\nbeta\r\n',
    '/d/c.txt': 'beta\nx\nx\nx\nbeta\n',
  })

  it('marks matches, shows each context line once, and separates groups', async () => {
    const text = await call('file_grep', {
      path: 'vfs:///a.txt',
      pattern: '^t|eight',
      context_before: 1,
      context_after: 1,
    })
    expect(text).toBe(
      [
        '4 matching lines',
        '  1: one',
        '> 2: two',
        '> 3: three',
        '  4: four',
        '--',
        '  7: seven',
        '> 8: eight',
        '  9: nine',
        '> 10: ten',
      ].join('\n'),
    )
  })

  it('shows two lines of context by default', async () => {
    expect(await call('file_grep', { path: 'vfs:///a.txt', pattern: 'five' })).toBe(
      '1 matching line\n  3: three\n  4: four\n> 5: five\n  6: six\n  7: seven',
    )
  })

  it('searches all files of a directory, each under its name', async () => {
    const text = await call('file_grep', {
      path: 'vfs:///d',
      pattern: 'bet.',
      context_before: 0,
      context_after: 1,
    })
    expect(text).toBe(
      [
        '3 matching lines in 2 files',
        'vfs:///d/b.txt',
        '> 2: beta',
        '',
        'vfs:///d/c.txt',
        '> 1: beta',
        '  2: x',
        '--',
        '> 5: beta',
      ].join('\n'),
    )
  })

  it('shows the same for a file, whether it is named or found', async () => {
    const word = fc.constantFrom('ab', 'b', 'c', '')
    const around = fc.nat(3)
    await fc.assert(
      fc.asyncProperty(fc.array(word, { maxLength: 15 }), around, around, async (lines, before, after) => {
        const on = toolsOn({ '/d/f': lines.join('\n') })
        const query = { pattern: 'b', context_before: before, context_after: after }
        const named = await on('file_grep', { path: 'vfs:///d/f', ...query })
        const found = await on('file_grep', { path: 'vfs:///d', ...query })
        if (lines.join('').includes('b')) {
          expect(found.split('\n').slice(2)).toEqual(named.split('\n').slice(1))
        } else expect(found).toContain('no line matches')
      }),
    )
  })

  it.each([
    ['(', 'missing closing )'],
    ['[', 'missing closing ]'],
    ['*', 'missing argument to repetition operator'],
    ['(?=x)', 'lookahead and lookbehind are not supported'],
    ['(?<!x)y', 'lookahead and lookbehind are not supported'],
    ['(a)\\1', 'backreferences are not supported'],
    ['x'.repeat(2001), 'longer than 2000 characters'],
    ['((x{1,100}){1,10}y){1,100}', 'bad regular expression'],
  ])('explains the problem of the pattern %s', async (pattern, message) => {
    expect(await call('file_grep', { path: 'vfs:///a.txt', pattern })).toContain(message)
  })

  it('is not blocked by a pattern that is exponential in other engines', async () => {
    const on = toolsOn({ '/d/evil': `${'a'.repeat(50_000)}!` })
    expect(await on('file_grep', { path: 'vfs:///d', pattern: '(a+)+$' })).toContain('no line matches')
    expect(await on('file_grep', { path: 'vfs:///d/evil', pattern: '(a|aa)+$' })).toContain('no line matches')
  })

  it('shortens a long line', async () => {
    const on = toolsOn({ '/f': 'x'.repeat(5000) })
    expect(await on('file_grep', { path: 'vfs:///f', pattern: 'x' })).toContain('… (4000 characters more)')
  })
})

describe('file_glob', () => {
  const call = toolsOn({ '/src/a.ts': '', '/src/deep/b.ts': '', '/src/deep/c.md': '' })

  it('finds files by pattern, below a directory', async () => {
    expect(await call('file_glob', { path: 'vfs:///src', pattern: '**/*.ts' })).toBe(
      'vfs:///src/a.ts\nvfs:///src/deep/b.ts',
    )
    expect(await call('file_glob', { path: 'vfs:///src', pattern: '*.{ts,md}' })).toBe('vfs:///src/a.ts')
    expect(await call('file_glob', { path: 'vfs:///', pattern: '*.ts' })).toBe(
      "no file matches '*.ts' in vfs:///",
    )
  })

  it.each([['/'], ['/repo']])('leaves out what is in .git below %s, unless it is named', async (top) => {
    const root = top === '/' ? '' : top
    const inGit = toolsOn(
      Object.fromEntries(
        ['.git/hooks/a.sample', '.gitignore', 'sub/.git', 'sub/a.ts'].map((path) => [
          `${root}/${path}`,
          'todo',
        ]),
      ),
    )
    const find = async (path: string, pattern: string) =>
      (await inGit('file_glob', { path: `vfs://${path}`, pattern }))
        .replaceAll(`vfs://${root}/`, '')
        .split('\n')
    expect(await find(top, '**')).toEqual(['.gitignore', 'sub/a.ts'])
    expect(await find(top, '.git/**')).toEqual(['.git/hooks/a.sample'])
    expect(await find(top, '**/{.git,none}')).toEqual(['sub/.git'])
    expect(await find(`${root}/.git`, '**')).toEqual(['.git/hooks/a.sample'])
    const searched = await inGit('file_grep', { path: `vfs://${top}`, pattern: 'todo' })
    expect(searched).toContain('2 matching lines in 2 files')
    expect(await inGit('file_grep', { path: `vfs://${root}/.git`, pattern: 'todo' })).toContain('a.sample')
  })

  it('stops at the limit, and says so', async () => {
    expect(await call('file_glob', { path: 'vfs:///', pattern: '**', limit: 1 })).toBe(
      'vfs:///src/a.ts\n… (more than 1; raise limit for more)',
    )
  })

  it('stops searching beyond the limit', async () => {
    const name = (index: number) => `/${String(index).padStart(5, '0').repeat(50)}`
    const names = Array.from({ length: 20_000 }, (_, index) => name(index))
    const tools = createToolRegistry({
      fs: new MemoryFs(Object.fromEntries(names.map((path) => [path, '']))),
    })
    const counts: number[] = []
    const args = { path: 'vfs:///', pattern: '*', limit: 100_000 }
    const { text } = await tools.call('file_glob', args, { progress: (count) => counts.push(count) })
    expect(text).toContain('… (cut; use a narrower pattern)')
    expect(new Set(counts).size).toBe(counts.length)
  })

  it.each(['/src/*', 'vfs:///src/*', '../*', 'a/./b'])('refuses the pattern %s', async (pattern) => {
    expect(await call('file_glob', { path: 'vfs:///src', pattern })).toMatch(/^EINVAL: .*in path/)
  })

  it('is not blocked by a pattern with many alternatives', async () => {
    const many = (length: number) =>
      call('file_glob', { path: 'vfs:///src', pattern: `*{${','.repeat(length)}` })
    expect(await many(100_000)).toContain("'pattern': must not have more than 1000 characters")
    expect(await many(998)).toContain('no file matches')
    expect(await call('file_glob', { path: 'vfs:///src', pattern: '{a,b}'.repeat(20) })).toContain(
      'alternatives',
    )
  })

  it('refuses a file and a missing directory', async () => {
    expect(await call('file_glob', { path: 'vfs:///src/a.ts', pattern: '*' })).toContain('ENOTDIR')
    expect(await call('file_glob', { path: 'vfs:///nope', pattern: '*' })).toContain('ENOENT')
  })
})

describe('a pipe', () => {
  const directory = mkdtempSync(join(tmpdir(), 'coppice-tools-'))
  execFileSync('sh', ['-c', 'mkfifo "$0"', join(directory, 'pipe')])
  writeFileSync(join(directory, 'file'), 'text\n')
  const host = new HostFs(directory)
  // An overlay shows the pipe without the protection of the host file system.
  const tools = createToolRegistry({ fs: new OverlayFs(host) })
  afterAll(() => {
    rmSync(directory, { recursive: true })
  })

  it.each([
    ['file_head', {}],
    ['file_tail', {}],
    ['file_read', {}],
    ['file_lines', { start: 1, end: 1 }],
    ['file_grep', { pattern: 'x' }],
    ['file_edit', { operation: 'replace_string', find: 'a', replace: 'b' }],
    ['write_file', { content: 'x' }],
  ])('is refused by %s before it is opened', async (name, args) => {
    const result = await tools.call(name, { path: 'vfs:///pipe', ...args })
    expect(result.text).toContain('a pipe, socket or device is not a file')
  })

  it('is skipped by a search', async () => {
    const result = await tools.call('file_grep', { path: 'vfs:///', pattern: 'tex.' })
    expect(result.text).toContain('1 matching line in 1 file')
  })
})
