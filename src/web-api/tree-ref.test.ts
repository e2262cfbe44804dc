import { describe, expect, it } from 'vitest'
import { formatTreeRef, parseTreeRef, type TreeRef } from './tree-ref.ts'

const trees: readonly (readonly [string, TreeRef])[] = [
  ['vault:base', { kind: 'vault', name: 'base' }],
  ['vault:base@before-1.2', { kind: 'vault', name: 'base', at: { checkpoint: 'before-1.2' } }],
  ['vault:base~0', { kind: 'vault', name: 'base', at: { seq: 0 } }],
  ['fork:shop-1~128', { kind: 'fork', name: 'shop-1', at: { seq: 128 } }],
  ['fork:shop-1^', { kind: 'fork', name: 'shop-1', at: 'base' }],
  ['directory:/srv/a~b@c^', { kind: 'directory', path: '/srv/a~b@c^' }],
]

describe('the text of a tree', () => {
  it.each(trees)('%s', (text, ref) => {
    expect(parseTreeRef(text)).toEqual(ref)
    expect(formatTreeRef(ref)).toBe(text)
  })

  it.each([
    '',
    'base',
    'vault:',
    'vault:-x',
    'vault:../x',
    'vault:a/b',
    'vault:a@',
    'vault:a@../b',
    'vault:a~',
    'vault:a~-1',
    'vault:a~01',
    'vault:a^^',
    'vault:a\n',
    'fork:a@b@c',
    'directory:relative',
    'link:a',
  ])('%j is none', (text) => expect(parseTreeRef(text)).toBeUndefined())
})
