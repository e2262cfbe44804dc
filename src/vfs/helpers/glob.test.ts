import { matchesGlob as nodeMatchesGlob } from 'node:path/posix'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isVfsError } from '../error.ts'
import { MemoryFs } from '../memory/memory-fs.ts'
import { MountTable } from '../mount/mount-table.ts'
import { glob, matchesGlob } from './glob.ts'

const tree = new MemoryFs({
  '/a.ts': '',
  '/b.js': '',
  '/src/a.ts': '',
  '/src/a.test.ts': '',
  '/src/deep/er/b.ts': '',
  '/src/deep/c.js': '',
  '/srcx/d.ts': '',
  '/docs/a-b.md': '',
})

async function found(pattern: string, options?: { cwd?: string; includeDirs?: boolean }): Promise<string[]> {
  return (await Array.fromAsync(glob(tree, pattern, options))).map(({ path }) => path)
}

describe('glob', () => {
  it('matches * and ? inside a name, and ** over any depth', async () => {
    expect(await found('/*.ts')).toEqual(['/a.ts'])
    expect(await found('/src/?.ts')).toEqual(['/src/a.ts'])
    expect(await found('/src/**/*.ts')).toEqual(['/src/a.test.ts', '/src/a.ts', '/src/deep/er/b.ts'])
    expect(await found('/**/b.*')).toEqual(['/b.js', '/src/deep/er/b.ts'])
    expect(await found('/src/**')).toEqual([
      '/src/a.test.ts',
      '/src/a.ts',
      '/src/deep/c.js',
      '/src/deep/er/b.ts',
    ])
    expect(await found('/src*/*.ts')).toEqual(['/src/a.test.ts', '/src/a.ts', '/srcx/d.ts'])
  })

  it('yields a path once, whichever alternative names it', async () => {
    expect(await found('/{a,b,a}.{ts,js,ts}')).toEqual(['/a.ts', '/b.js'])
    expect(await found('/**/**/a.ts')).toEqual(['/a.ts', '/src/a.ts'])
    expect(await found('/{src,src/deep,s{rc,rc/deep}}/*.js')).toEqual(['/src/deep/c.js'])
  })

  it('starts at cwd unless the pattern is absolute', async () => {
    expect(await found('*.ts', { cwd: '/src' })).toEqual(['/src/a.test.ts', '/src/a.ts'])
    expect(await found('deep/**/*.ts', { cwd: '/src/' })).toEqual(['/src/deep/er/b.ts'])
    expect(await found('/a.ts', { cwd: '/src' })).toEqual(['/a.ts'])
    expect(await found('./a.ts', { cwd: '/src' })).toEqual(['/src/a.ts'])
  })

  it('yields directories with includeDirs', async () => {
    expect(await found('/*', { includeDirs: true })).toEqual(['/a.ts', '/b.js', '/docs', '/src', '/srcx'])
    expect(await found('/src/**/er', { includeDirs: true })).toEqual(['/src/deep/er'])
    expect(await found('/src', { includeDirs: true })).toEqual(['/src'])
    expect(await found('/src')).toEqual([])
  })

  it('finds nothing where the fixed part is missing or a file', async () => {
    expect(await found('/nowhere/**')).toEqual([])
    expect(await found('/a.ts/*')).toEqual([])
    expect(await found('/missing')).toEqual([])
  })

  it('reads only the directories the pattern can reach', async () => {
    const listed: string[] = []
    class Noting extends MemoryFs {
      protected override doWalk(root: string, options: object) {
        listed.push(`${root} ${JSON.stringify(options)}`)
        return super.doWalk(root, options)
      }
    }
    const fs = new Noting({ '/src/deep/a.ts': '', '/other/b.ts': '' })
    await Array.fromAsync(glob(fs, '/src/deep/*.ts'))
    await Array.fromAsync(glob(fs, '/src/*/*.ts'))
    expect(listed).toEqual([
      '/src/deep {"includeDirs":false,"maxDepth":1}',
      '/src {"includeDirs":false,"maxDepth":2}',
    ])
  })

  it('agrees with matchesGlob on every file, across mounts', async () => {
    const table = new MountTable({ '/': tree, '/src/mnt': new MemoryFs({ '/a.ts': '', '/x/b.js': '' }) })
    const all = (await Array.fromAsync(table.walk('/'))).map(({ path }) => path)
    for (const pattern of [
      '/**',
      '/*',
      '/src/*/*',
      '/**/*.ts',
      '/src/**/[ab].*',
      '/{src,docs}/**',
      '/**/x/**',
    ]) {
      const paths = (await Array.fromAsync(glob(table, pattern))).map(({ path }) => path)
      expect(paths.toSorted(), pattern).toEqual(all.filter((path) => matchesGlob(path, pattern)).toSorted())
    }
  })
})

describe('matchesGlob', () => {
  it('matches special characters of other syntaxes literally', () => {
    for (const name of [
      'a.b',
      'a+b',
      '(a)',
      'a|b',
      '^a$',
      'a\\b',
      'a{b}',
      '{a',
      'b}',
      '[a',
      'a]',
      '$&',
      'a,b',
    ]) {
      expect(matchesGlob(`/${name}`, `/${name}`), name).toBe(true)
    }
    expect(matchesGlob('/axb', '/a.b')).toBe(false)
    expect(matchesGlob('/aab', '/a+b')).toBe(false)
  })

  it('matches sets and negated sets', () => {
    expect(matchesGlob('/b', '/[a-c]')).toBe(true)
    expect(matchesGlob('/d', '/[a-c]')).toBe(false)
    expect(matchesGlob('/d', '/[!a-c]')).toBe(true)
    expect(matchesGlob('/b', '/[!a-c]')).toBe(false)
    expect(matchesGlob('/]', '/[!a]')).toBe(true)
    expect(matchesGlob('/-', '/[a-]')).toBe(true)
    expect(matchesGlob('/*', '/[*]')).toBe(true)
    expect(matchesGlob('/x', '/[*]')).toBe(false)
  })

  it('matches a hyphen at the start of a negated set literally', () => {
    expect(matchesGlob('/5', '/[!-a]')).toBe(true)
    expect(matchesGlob('/-', '/[!-a]')).toBe(false)
    expect(matchesGlob('/a', '/[!-a]')).toBe(false)
  })

  it('matches a bracket without members literally', () => {
    expect(matchesGlob('/[]', '/[]')).toBe(true)
    expect(matchesGlob('/a[]b', '/a[]?')).toBe(true)
    expect(matchesGlob('/x', '/[!]')).toBe(false)
    expect(matchesGlob('/[!]', '/[!]')).toBe(true)
    expect(matchesGlob('/]', '/[]]')).toBe(true)
    expect(matchesGlob('/]', '/[!]]')).toBe(false)
  })

  it('never lets a name pattern match a slash', () => {
    for (const pattern of ['/a*b', '/a?b', '/a[!x]b', '/a[/]b'])
      expect(matchesGlob('/a/b', pattern), pattern).toBe(false)
  })

  it('matches names with newlines and emoji', () => {
    expect(matchesGlob('/a\nb', '/a*b')).toBe(true)
    expect(matchesGlob('/a\nb', '/**')).toBe(true)
    expect(matchesGlob('/🎉.md', '/*.md')).toBe(true)
    expect(matchesGlob('/🎉', '/🎉')).toBe(true)
  })

  it('accepts any pattern or throws EINVAL', () => {
    const pattern = fc
      .array(
        fc.constantFrom(
          'a',
          'z',
          '*',
          '**',
          '?',
          '[',
          ']',
          '!',
          '-',
          '^',
          '{',
          '}',
          ',',
          '\\',
          '/',
          '(',
          '|',
        ),
        {
          maxLength: 8,
        },
      )
      .map((parts) => `/${parts.join('')}`)
    const expectAnswer = (text: string) => {
      try {
        expect(matchesGlob('/a/z', text)).toBeTypeOf('boolean')
      } catch (error) {
        expect(isVfsError(error, 'EINVAL'), String(error)).toBe(true)
      }
    }
    for (const text of ['/[z-a]', '/[a-\\]', '/[', '/[]', '/[!]', '/{,', '/{}}']) expectAnswer(text)
    fc.assert(fc.property(pattern, expectAnswer), { numRuns: 1500 })
  })

  it("agrees with Node's where both support the syntax", () => {
    const name = fc
      .array(fc.constantFrom('a', 'b', 'c', '-'), { minLength: 1, maxLength: 4 })
      .map((all) => all.join(''))
    const path = fc.array(name, { minLength: 1, maxLength: 4 }).map((names) => `/${names.join('/')}`)
    // Escapes, dot files, extended patterns and numeric braces are where the two differ on purpose.
    const piece = fc.constantFrom(
      'a',
      'b',
      '-',
      '*',
      '?',
      '[ab]',
      '[!a]',
      '[a-b]',
      '{a,b}',
      'a{b,}',
      '{a,{b,c}}',
    )
    const part = fc.oneof(
      { weight: 4, arbitrary: fc.array(piece, { minLength: 1, maxLength: 3 }).map((all) => all.join('')) },
      { weight: 1, arbitrary: fc.constant('**') },
    )
    const pattern = fc.array(part, { minLength: 1, maxLength: 4 }).map((parts) => `/${parts.join('/')}`)
    const agreed = fc
      .tuple(path, pattern)
      .filter(([, text]) => !text.includes('***') && !/\/(?:\/|$)/.test(text))
    const property = fc.property(agreed, ([one, text]) => {
      expect(matchesGlob(one, text), `${one} against ${text}`).toBe(nodeMatchesGlob(one, text))
    })
    fc.assert(property, { numRuns: 1500 })
  })
})

describe('a pattern made to take for ever', () => {
  it('is matched in reasonable time', () => {
    const name = 'a'.repeat(5000)
    expect(matchesGlob(`/${name}`, `/${'*a'.repeat(30)}b`)).toBe(false)
    expect(matchesGlob(`/${name}b`, `/${'*a'.repeat(30)}b`)).toBe(true)
    expect(matchesGlob('/a'.repeat(200), `${'/**/a'.repeat(30)}/b`)).toBe(false)
  })

  it('is EINVAL if its braces expand to too many alternatives', () => {
    expect(() => matchesGlob('/a', `/${'{a,b}'.repeat(40)}`)).toThrow(/EINVAL.*alternatives/)
  })

  it('counts an emoji as one character', () => {
    expect(matchesGlob('/🎉', '/?')).toBe(true)
    expect(matchesGlob('/🎉', '/[🎉x]')).toBe(true)
  })
})
