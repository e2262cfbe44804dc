import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import fc from 'fast-check'
import { expect, it, onTestFinished } from 'vitest'
import type { TreeChange } from './compare-trees.ts'
import { writeDirectory } from './directory-write.ts'
import { HostTree } from './host-tree.ts'
import type { LinkEntry } from './link-entry.ts'
import { createStageName } from './stage-names.ts'

/** A tree as a map: the text of a file, or null for a directory. It includes every parent directory. */
type Tree = ReadonlyMap<string, string | null>

const treeOf = (flat: Readonly<Record<string, string | null>>): Tree => {
  const tree = new Map<string, string | null>()
  for (const path of Object.keys(flat).sort()) {
    const names = path.split('/').slice(1)
    const parents = names.slice(0, -1).map((_, index) => `/${names.slice(0, index + 1).join('/')}`)
    if (parents.some((parent) => typeof tree.get(parent) === 'string')) continue
    for (const parent of parents) tree.set(parent, null)
    if (!tree.has(path)) tree.set(path, flat[path] ?? null)
  }
  return tree
}

const entryOf = (content: string | null | undefined): LinkEntry | undefined => {
  if (content === undefined) return undefined
  const bytes = Buffer.from(content ?? '')
  const [type, mode] = content === null ? (['directory', 0o755] as const) : (['file', 0o644] as const)
  const mtime = { seconds: 1, nanos: 0 }
  return { type, mode, uid: 0, gid: 0, mtime, size: bytes.length, target: '', content: () => [bytes] }
}

const changesOf = (before: Tree, after: Tree): TreeChange[] =>
  [...new Set([...before.keys(), ...after.keys()])]
    .sort()
    .filter((path) => before.get(path) !== after.get(path) || before.has(path) !== after.has(path))
    .map((path) => ({ path, before: entryOf(before.get(path)), after: entryOf(after.get(path)) }))

const scratch = (): string => {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), 'coppice-write-')))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  return directory
}

const make = (directory: string, tree: Tree): void => {
  for (const [path, content] of tree) {
    if (content === null) mkdirSync(directory + path)
    else writeFileSync(directory + path, content)
  }
}

const read = (directory: string): Record<string, string | null> => {
  const found = readdirSync(directory, { recursive: true, withFileTypes: true }).map((entry) => {
    const path = join(entry.parentPath, entry.name)
    return [`/${relative(directory, path)}`, entry.isDirectory() ? null : readFileSync(path, 'utf8')] as const
  })
  return Object.fromEntries(found)
}

const write = (directory: string, changes: readonly TreeChange[]): void => {
  using tree = new HostTree(directory)
  writeDirectory(tree, { stage: createStageName(), changes })
}

const name = fc.constantFrom('a', 'b', 'c')
const path = fc.array(name, { minLength: 1, maxLength: 3 }).map((names) => `/${names.join('/')}`)
const tree = fc
  .dictionary(path, fc.oneof(fc.constant(null), fc.constantFrom('x', 'y')), { maxKeys: 6 })
  .map(treeOf)

it('turns any tree into any other', () => {
  const base = scratch()
  fc.assert(
    fc.property(tree, tree, (before, after) => {
      const directory = mkdtempSync(join(base, 'run-'))
      make(directory, before)
      write(directory, changesOf(before, after))
      expect(read(directory)).toEqual(Object.fromEntries(after))
    }),
    { numRuns: 50 },
  )
})

it('leaves everything unchanged if any step fails', () => {
  const base = scratch()
  fc.assert(
    fc.property(tree, tree, fc.nat(), (before, after, pick) => {
      const added = [...after.keys()].filter((path) => !before.has(path) && !/^(.+)\/[^/]+$/.test(path))
      const blocked = added[pick % added.length]
      fc.pre(blocked !== undefined)
      const directory = mkdtempSync(join(base, 'run-'))
      make(directory, before)
      writeFileSync(directory + blocked, 'a stranger')
      const there = read(directory)
      expect(() => write(directory, changesOf(before, after))).toThrow(/EEXIST|ENOTDIR/)
      expect(read(directory)).toEqual(there)
    }),
    { numRuns: 50 },
  )
})
