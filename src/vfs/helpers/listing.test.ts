import { describe, expect, it } from 'vitest'
import { MemoryFs } from '../memory/memory-fs.ts'
import { MountTable } from '../mount/mount-table.ts'
import { du, tree } from './listing.ts'

describe('tree', () => {
  it('draws open branches past nested ones, and closes the last of each', async () => {
    const fs = new MemoryFs({ '/a/b/c': '', '/a/d': '', '/a/e/f/g': '', '/h': '' })
    expect(await tree(fs)).toBe(
      [
        '/',
        '├── a/',
        '│   ├── b/',
        '│   │   └── c',
        '│   ├── d',
        '│   └── e/',
        '│       └── f/',
        '│           └── g',
        '└── h',
      ].join('\n'),
    )
  })

  it('stops at a depth, and draws nothing below a file or an empty directory', async () => {
    const fs = new MemoryFs({ '/a/b/c': '' })
    expect(await tree(fs, '/', { maxDepth: 1 })).toBe('/\n└── a/')
    expect(await tree(fs, '/', { maxDepth: 0 })).toBe('/')
    expect(await tree(fs, '/a/b/c')).toBe('/a/b/c')
    expect(await tree(new MemoryFs())).toBe('/')
  })

  it('draws the same however the root is spelled', async () => {
    const fs = new MemoryFs({ '/d/sub/x': '', '/d/y': '' })
    const expected = '/d/\n├── sub/\n│   └── x\n└── y'
    for (const root of ['/d', '/d/', '//d', '/d/.', '/d/sub/..'])
      expect(await tree(fs, root), root).toBe(expected)
  })

  it('is ENOENT for a missing root', async () => {
    await expect(tree(new MemoryFs(), '/missing')).rejects.toMatchObject({ code: 'ENOENT', path: '/missing' })
  })
})

describe('du', () => {
  it('counts files, directories and bytes below a root, across mounts', async () => {
    const table = new MountTable({
      '/': new MemoryFs({ '/a': '123', '/m/hidden': 'not counted', '/d/e/f': '45' }),
      '/m': new MemoryFs({ '/x': '6789' }),
    })
    expect(await du(table)).toEqual({ files: 3, directories: 3, bytes: 9 })
    expect(await du(table, '/d/')).toEqual({ files: 1, directories: 1, bytes: 2 })
  })

  it('counts a single file, and nothing in an empty directory', async () => {
    const fs = new MemoryFs({ '/f': 'é' })
    expect(await du(fs, '/f')).toEqual({ files: 1, directories: 0, bytes: 2 })
    expect(await du(new MemoryFs())).toEqual({ files: 0, directories: 0, bytes: 0 })
    await expect(du(fs, '/missing')).rejects.toMatchObject({ code: 'ENOENT' })
  })
})
