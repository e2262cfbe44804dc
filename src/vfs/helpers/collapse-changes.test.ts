import { describe, expect, it } from 'vitest'
import { collapseChanges, diff, MemoryFs } from '../index.ts'

function createFiles(directory: string, count: number): Record<string, string> {
  return Object.fromEntries(
    Array.from({ length: count }, (_, at) => [`${directory}/d${at % 7}/f${at}.txt`, String(at)]),
  )
}

async function collapse(before: Record<string, string>, after: Record<string, string>) {
  const trees = { before: new MemoryFs(before), after: new MemoryFs(after) }
  const { changes, directories } = await collapseChanges(diff(trees.before, trees.after), trees)
  return { changes: changes.map(({ kind, path }) => `${kind} ${path}`), directories }
}

describe('collapseChanges', () => {
  it('counts the files of the outermost new directory, and of a deleted one', async () => {
    const many = createFiles('/node_modules', 150)
    const others = { '/a.txt': 'a', '/src/b.txt': 'b' }
    expect(await collapse({}, { ...many, ...others })).toEqual({
      changes: ['added /a.txt', 'added /src/b.txt'],
      directories: [{ kind: 'added', path: '/node_modules', files: 150 }],
    })
    expect(await collapse({ ...many, ...others }, others)).toEqual({
      changes: [],
      directories: [{ kind: 'deleted', path: '/node_modules', files: 150 }],
    })
  })

  it('lists the files of a directory that was there, and those of a small one, in their order', async () => {
    const more = createFiles('/src', 120)
    const small = createFiles('/new', 99)
    const { changes, directories } = await collapse({ '/src/d0/old': 'x' }, { '/src/d0/old': 'x', ...small })
    expect(changes).toHaveLength(99)
    expect(directories).toEqual([])
    const known = await collapse({ '/src/a/old': 'x' }, { '/src/a/old': 'x', ...more })
    // Each directory below is new by itself, and small.
    expect(known.directories).toEqual([])
    expect(known.changes).toEqual([...known.changes].sort())
    expect(known.changes).toHaveLength(120)
  })

  it('counts a directory that takes the place of a file', async () => {
    const many = createFiles('/x', 100)
    const { changes, directories } = await collapse({ '/x': 'file' }, many)
    expect(directories).toEqual([{ kind: 'added', path: '/x', files: 100 }])
    expect(changes).toEqual(['deleted /x'])
  })
})
