import { expect, it } from 'vitest'
import { type FileSystem, MemoryFs, MountTable, OverlayFs, ReadOnlyFs } from './index.ts'

/** What a program without types may hand over. */
const impostors: readonly [string, unknown][] = [
  ['an object', {}],
  ['nothing', undefined],
  ['null', null],
  ['a directory of this machine', '/tmp'],
  ['half a file system', { capabilities: new Set(), stat: async () => {}, read: async () => {} }],
]

const loose = (value: unknown) => value as FileSystem

it.each(impostors)('rejects %s as a file system', (_, value) => {
  const table = new MountTable()
  const refusal = expect.objectContaining({
    code: 'EINVAL',
    message: expect.stringContaining('not a file system'),
  })
  expect(() => table.mount('/data/x', loose(value))).toThrow(
    expect.objectContaining({ code: 'EINVAL', path: '/data/x' }),
  )
  expect(() => new MountTable({ '/x': loose(value) })).toThrow(/EINVAL: .*not a file system.* mount '\/x'/)
  expect(table.mounts()).toEqual([])
  expect(() => new ReadOnlyFs(loose(value))).toThrow(refusal)
  expect(() => new OverlayFs(loose(value))).toThrow(refusal)
  if (value !== undefined) expect(() => new OverlayFs(new MemoryFs(), loose(value))).toThrow(refusal)
})

it('lists the missing members of an incomplete file system', () => {
  const half = loose({ capabilities: new Set(), stat: async () => {}, read: async () => {} })
  expect(() => new MountTable({ '/x': half })).toThrow(/it has no exists, readdir, walk, materialize, write/)
})
