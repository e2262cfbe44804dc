import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { NodeTable } from './node-table.ts'

const name = fc.constantFrom('a', 'b', 'c')
const step = fc.oneof(
  fc.record({ do: fc.constant('tell' as const), parent: fc.nat(9), name }),
  fc.record({ do: fc.constant('remove' as const), parent: fc.nat(9), name }),
  fc.record({ do: fc.constant('move' as const), parent: fc.nat(9), name, to: fc.nat(9), newName: name }),
  fc.record({ do: fc.constant('forget' as const), parent: fc.nat(9) }),
)

describe('a table of nodes', () => {
  it('returns the path of every node, through moves, removals and forgetting', () => {
    const property = fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const table = new NodeTable()
      /** The paths of live numbers, in the plainest way. */
      const paths = new Map<number, string>([[1, '/']])
      const nth = (index: number) => [...paths][index % paths.size] ?? fail()
      for (const taken of steps) {
        const [ino, path] = nth(taken.parent)
        if (taken.do === 'forget') {
          forget(table, paths, ino)
          continue
        }
        const place = below(path, taken.name)
        if (taken.do === 'tell')
          paths.set(table.addLookup(table.get(ino), taken.name, 'directory').ino, place)
        else if (taken.do === 'remove') {
          if (isLeaf(paths, place)) lose(table, paths, ino, taken.name, place)
        } else {
          const [toIno, toPath] = nth(taken.to)
          const target = below(toPath, taken.newName)
          // What a kernel never asks for: into itself, over something that is not empty, what is not there.
          if (isWithin(target, place) || !isLeaf(paths, target) || ![...paths.values()].includes(place))
            continue
          table.move(table.get(ino), taken.name, table.get(toIno), taken.newName)
          rename(paths, place, target)
        }
      }
      for (const [ino, path] of paths) {
        expect(table.getPath(table.get(ino))).toBe(path)
        expect(table.findNode(path)?.ino).toBe(ino)
      }
    })
    fc.assert(property, { numRuns: 500 })
  })

  it('gives a recreated name, or another type of file, a new number', () => {
    const table = new NodeTable()
    const first = table.addLookup(table.root, 'f', 'file').ino
    expect(table.addLookup(table.root, 'f', 'file').ino).toBe(first)
    const second = table.addLookup(table.root, 'f', 'directory').ino
    table.remove(table.root, 'f')
    const third = table.addLookup(table.root, 'f', 'directory').ino
    expect(new Set([first, second, third]).size).toBe(3)
    expect(() => table.getPath(table.get(first))).toThrow('ENOENT')
  })

  it('forgets a directory only after its entries', () => {
    const table = new NodeTable()
    const directory = table.addLookup(table.root, 'd', 'directory')
    const file = table.addLookup(directory, 'f', 'file')
    table.forget(directory.ino, 1)
    expect(table.getPath(file)).toBe('/d/f')
    table.forget(file.ino, 1)
    expect(() => table.get(file.ino)).toThrow('ENOENT')
    expect(() => table.get(directory.ino)).toThrow('ENOENT')
  })
})

function below(directory: string, child: string): string {
  return directory === '/' ? `/${child}` : `${directory}/${child}`
}

function isWithin(path: string, root: string): boolean {
  return path === root || path.startsWith(`${root}/`)
}

function isLeaf(paths: ReadonlyMap<number, string>, path: string): boolean {
  return ![...paths.values()].some((other) => other.startsWith(`${path}/`))
}

function lose(
  table: NodeTable,
  paths: Map<number, string>,
  parent: number,
  child: string,
  path: string,
): void {
  table.remove(table.get(parent), child)
  drop(paths, path)
}

function drop(paths: Map<number, string>, path: string): void {
  for (const [ino, known] of paths) if (known === path) paths.delete(ino)
}

function rename(paths: Map<number, string>, from: string, to: string): void {
  if (from !== to) drop(paths, to)
  for (const [ino, path] of paths) if (isWithin(path, from)) paths.set(ino, to + path.slice(from.length))
}

/** Entirely, and only leaves: of what has children the path stays known. */
function forget(table: NodeTable, paths: Map<number, string>, ino: number): void {
  const path = paths.get(ino)
  if (path === undefined || path === '/' || !isLeaf(paths, path)) return
  table.forget(ino, 1000)
  paths.delete(ino)
}

function fail(): never {
  throw new Error('there is always the root')
}
