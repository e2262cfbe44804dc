import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isVfsError, strict } from '../vfs/index.ts'
import { fromUri, toUri } from './uri.ts'

describe('a vfs:/// URI', () => {
  it.each([
    ['vfs:///', '/'],
    ['vfs:///shared/tasks.md', '/shared/tasks.md'],
    ['vfs:///shared/a b.md', '/shared/a b.md'],
    ['vfs:///shared/a%20b.md', '/shared/a b.md'],
    ['vfs:///shared/caf%C3%A9', '/shared/café'],
    ['vfs:///shared/café', '/shared/café'],
    ['vfs:///a%2Eb', '/a.b'],
    ['vfs:///-rf', '/-rf'],
    ['vfs:///what?#', '/what?#'],
    ['vfs:///100%25', '/100%'],
  ])('%s names %s', (uri, path) => {
    expect(fromUri(uri)).toBe(path)
  })

  it.each([
    ['vfs://shared', 'three slashes'],
    ['vfs:/shared', 'three slashes'],
    ['vfs:shared', 'three slashes'],
    ['VFS:///shared', 'three slashes'],
    ['vfs://', 'three slashes'],
    ['', 'three slashes'],
    ['/shared', 'three slashes'],
    ['vfs:////etc', 'empty component'],
    ['vfs:///a//b', 'empty component'],
    ['vfs:///../x', "'..' component"],
    ['vfs:///a/./b', "'.' component"],
    ['vfs:///%2e%2e/x', "'..' component"],
    ['vfs:///a/%2E/b', "'.' component"],
    ['vfs:///a/.%2e/b', "'..' component"],
    ['vfs:///a%2Fb', 'cannot hold a slash'],
    ['vfs:///..%2fetc', 'cannot hold a slash'],
    ['vfs:///a\0b', 'NUL'],
    ['vfs:///a%00b', 'NUL'],
    ['vfs:///shared/', 'ends with a slash'],
    ['vfs:///100%', '%25'],
    ['vfs:///%ff', '%25'],
    ['vfs:///\ud800', 'not valid Unicode'],
    [`vfs:///${'x'.repeat(256)}`, 'longer than 255'],
  ])('%j is refused: %s', (uri, reason) => {
    expect(() => fromUri(uri)).toThrow(reason)
    expect(() => fromUri(uri)).toThrow('EINVAL')
  })

  it('is limited in length, in any encoding', () => {
    const deep = '/abc'.repeat(1024)
    expect(fromUri(`vfs://${deep}`)).toBe(deep)
    expect(fromUri(`vfs://${'/%61%62%63'.repeat(1024)}`)).toBe(deep)
    expect(() => fromUri(`vfs://${deep}/d`)).toThrow('longer than 4096 bytes')
    expect(() => fromUri(`vfs://${'/a'.repeat(1_000_000)}`)).toThrow('longer than 4096 bytes')
  })

  it('identifies every path uniquely', () => {
    const name = fc
      .string({ unit: 'grapheme', minLength: 1, maxLength: 8 })
      .filter((text) => !/[/\0]/.test(text) && text !== '.' && text !== '..' && text.isWellFormed())
    fc.assert(
      fc.property(fc.array(name, { maxLength: 4 }), (names) => {
        const path = `/${names.join('/')}`
        expect(fromUri(toUri(path))).toBe(path)
        expect(URL.canParse(toUri(path))).toBe(true)
      }),
    )
  })

  it('gives a canonical path or EINVAL for any text', () => {
    const part = fc.constantFrom('vfs:', '/', '//', '.', '..', '%2e', '%2F', '%00', '%', 'a', '\0', '\\', ' ')
    fc.assert(
      fc.property(fc.array(part, { maxLength: 10 }), (parts) => {
        const uri = `vfs://${parts.join('')}`
        try {
          const path = fromUri(uri)
          expect(strict(path)).toBe(path)
        } catch (error) {
          expect(isVfsError(error, 'EINVAL')).toBe(true)
        }
      }),
    )
  })
})
