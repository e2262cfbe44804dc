import { posix } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  ancestors,
  basename,
  checkPath,
  child,
  dirname,
  isWithin,
  join,
  normalize,
  relativeTo,
  resolve,
  split,
  strict,
} from './path.ts'

const EINVAL = expect.objectContaining({ name: 'VfsError', code: 'EINVAL' })

/** Absolute paths with everything a normalization must handle, in any mixture. */
const segment = fc.constantFrom(
  '',
  '.',
  '..',
  '...',
  '.hidden',
  '..x',
  'a',
  'b c',
  'é',
  '🎉',
  '\n',
  '\\',
  '%2e',
)
const messyPath = fc.array(segment, { maxLength: 8 }).map((parts) => `/${parts.join('/')}`)

describe('normalize', () => {
  it('collapses slashes, dots and a trailing slash', () => {
    expect(normalize('//a///b/')).toBe('/a/b')
    expect(normalize('/./a/././b/.')).toBe('/a/b')
    expect(normalize('/a/b/..')).toBe('/a')
    expect(normalize('/')).toBe('/')
    expect(normalize('////')).toBe('/')
  })

  it('stays at the root for any number of ..', () => {
    expect(normalize('/..')).toBe('/')
    expect(normalize('/../../a/../../b')).toBe('/b')
  })

  it('keeps names that only resemble dots', () => {
    for (const path of ['/...', '/.hidden', '/a.', '/..a', '/a/.b', '/%2e%2e', '/..\\..']) {
      expect(normalize(path)).toBe(path)
    }
  })

  it('throws EINVAL for a relative path', () => {
    for (const path of ['', '.', '..', 'a', './a', '../a', ' /a', '\\a', '\0/a']) {
      expect(() => normalize(path), JSON.stringify(path)).toThrow(EINVAL)
    }
  })

  it('agrees with Node on every absolute path, but for the trailing slash', () => {
    const oracle = (path: string) => posix.normalize(path).replace(/(?<=.)\/$/s, '')
    fc.assert(
      fc.property(messyPath, (path) => {
        expect(normalize(path)).toBe(oracle(path))
      }),
    )
  })

  it('changes nothing the second time', () => {
    fc.assert(
      fc.property(messyPath, (path) => {
        expect(normalize(normalize(path))).toBe(normalize(path))
      }),
    )
  })
})

describe('strict', () => {
  it('returns a canonical path as it is', () => {
    for (const path of ['/', '/a', '/a/b c', '/.hidden', '/...', '/%2e%2e', '/a\\b', '/new\nline', '/🎉']) {
      expect(strict(path)).toBe(path)
    }
  })

  it('rejects every path that normalize would change', () => {
    for (const path of ['//', '//a', '/a//b', '/a/', '/.', '/a/.', '/./a', '/..', '/a/..', '/a/../b']) {
      expect(() => strict(path), path).toThrow(EINVAL)
    }
  })

  it('rejects the empty path, a relative one and a NUL', () => {
    for (const path of ['', 'a', './a', '/a\0', '/\0', '/a\0b/c']) {
      expect(() => strict(path), JSON.stringify(path)).toThrow(EINVAL)
    }
  })

  it('accepts a name of up to 255 bytes', () => {
    for (const name of ['x'.repeat(255), 'é'.repeat(127), '€'.repeat(85), `${'🎉'.repeat(63)}abc`]) {
      expect(strict(`/d/${name}/f`)).toBe(`/d/${name}/f`)
      expect(() => strict(`/d/${name}é/f`), name.slice(0, 1)).toThrow(EINVAL)
    }
  })

  it('limits a name, not a path', () => {
    const path = `/${'x'.repeat(255)}`.repeat(20)
    expect(strict(path)).toBe(path)
  })

  it('reports the rejected path', () => {
    expect(() => strict('/a/../b')).toThrow(expect.objectContaining({ path: '/a/../b' }))
  })

  it('accepts exactly what normalize leaves unchanged, of storable names', () => {
    fc.assert(
      fc.property(messyPath, (path) => {
        if (normalize(path) === path) expect(strict(path)).toBe(path)
        else expect(() => strict(path)).toThrow(EINVAL)
      }),
    )
  })
})

describe('checkPath', () => {
  /** Names on both sides of every limit, and characters no backend could store. */
  const name = fc.oneof(
    segment,
    fc.constantFrom('nul\0', '\ud800', '\udc00x', '\uffff', '\ue000', '\ud7ff'),
    fc
      .tuple(fc.constantFrom('x', 'é', '€', '🎉'), fc.integer({ min: 55, max: 260 }))
      .map(([unit, count]) => unit.repeat(count)),
  )
  const anyPath = fc
    .tuple(fc.constantFrom('/', '//', '', 'a'), fc.array(name, { maxLength: 3 }))
    .map(([start, names]) => start + names.join('/'))

  it('agrees with normalize and strict, on the fast and the slow way', () => {
    const outcome = (run: () => string) => {
      try {
        return run()
      } catch (error) {
        expect(error).toEqual(EINVAL)
        return null
      }
    }
    const property = fc.property(anyPath, (path) => {
      expect(outcome(() => checkPath(path))).toBe(outcome(() => strict(normalize(path))))
    })
    fc.assert(property, { numRuns: 2000 })
  })

  it('reports the operation', () => {
    expect(() => checkPath('/a\0b', 'stat')).toThrow(expect.objectContaining({ op: 'stat', path: '/a\0b' }))
  })

  it('throws EINVAL for a value that is not a string, as normalize does', () => {
    for (const path of JSON.parse('[null, 1, {}, ["/a"]]')) {
      expect(() => normalize(path)).toThrow(EINVAL)
      expect(() => checkPath(path)).toThrow(EINVAL)
    }
  })
})

describe('join and resolve', () => {
  it('put the second below the first, unless it is absolute', () => {
    expect(join('/a', 'b')).toBe('/a/b')
    expect(join('/', 'b')).toBe('/b')
    expect(join('/a/', './b/../c')).toBe('/a/c')
    expect(join('/a', '')).toBe('/a')
    expect(join('/a', '/b')).toBe('/b')
    expect(join('not/used', '/b/')).toBe('/b')
  })

  it('cannot climb over the root', () => {
    expect(join('/a', '../../../etc')).toBe('/etc')
    expect(resolve('/a/b', '../../..')).toBe('/')
  })

  it('throw EINVAL for a relative start', () => {
    expect(() => join('a', 'b')).toThrow(EINVAL)
    expect(() => resolve('a', '/b')).toThrow(EINVAL)
  })

  it('resolve as Node does from any directory', () => {
    fc.assert(
      fc.property(messyPath, fc.array(segment), fc.boolean(), (cwd, parts, isAbsolute) => {
        const path = (isAbsolute ? '/' : '') + parts.join('/')
        expect(resolve(cwd, path)).toBe(posix.resolve(cwd, path))
      }),
    )
  })
})

describe('dirname, basename and split', () => {
  it('treat the root as its own parent, without a name', () => {
    expect(dirname('/')).toBe('/')
    expect(basename('/')).toBe('')
    expect(split('/')).toEqual([])
  })

  it('take a path apart', () => {
    expect(dirname('/a')).toBe('/')
    expect(dirname('/a/b')).toBe('/a')
    expect(basename('/a/b')).toBe('b')
    expect(split('/a/b/c')).toEqual(['a', 'b', 'c'])
  })

  it('go back together to the canonical path', () => {
    fc.assert(
      fc.property(messyPath.map(normalize), (path) => {
        expect(`/${split(path).join('/')}`).toBe(path)
        expect(dirname(path)).toBe(posix.dirname(path))
        if (path !== '/') expect(child(dirname(path), basename(path))).toBe(path)
      }),
    )
  })
})

describe('relativeTo', () => {
  it('compares whole segments: /ab is not below /a', () => {
    expect(relativeTo('/ab', '/a')).toBeNull()
    expect(relativeTo('/a', '/ab')).toBeNull()
    expect(relativeTo('/a/b', '/a')).toBe('b')
    expect(isWithin('/dev/fs2', '/dev/fs')).toBe(false)
  })

  it("returns '' for the root itself and the whole path from /", () => {
    expect(relativeTo('/a', '/a')).toBe('')
    expect(relativeTo('/', '/')).toBe('')
    expect(relativeTo('/a/b', '/')).toBe('a/b')
    expect(relativeTo('/', '/a')).toBeNull()
  })

  it('is undone by join', () => {
    fc.assert(
      fc.property(messyPath.map(normalize), messyPath.map(normalize), (path, root) => {
        const relative = relativeTo(path, root)
        if (relative !== null) expect(join(root, relative)).toBe(path)
        expect(relative !== null).toBe(path === root || ancestors(path).includes(root))
      }),
    )
  })
})

describe('ancestors', () => {
  it('lists the directories above, from the root down', () => {
    expect(ancestors('/')).toEqual([])
    expect(ancestors('/a')).toEqual(['/'])
    expect(ancestors('/a/b/c')).toEqual(['/', '/a', '/a/b'])
  })
})
