import type { TreeChange } from './compare-trees.ts'
import type { LinkEntry } from './link-entry.ts'
import { findEntry, putEntry, ROOT_INODE, type TreeFiles } from './tree.ts'
import { performWork, type TreeWork } from './tree-work.ts'

const PATHS_NAME = 'paths.json'
const SIDES = ['before', 'after'] as const
const LIST_ATTRIBUTES = { mode: 0o600, uid: 0, gid: 0 }

/**
 * Stores the states of a directory before and after an apply, at paths where these are not the states of a mirror:
 * merged files, and files that the directory had already.
 */
export async function writeMergedPaths(tree: TreeFiles, changes: readonly TreeChange[]): Promise<void> {
  const work = changes.flatMap((change) =>
    SIDES.flatMap((side): TreeWork[] => {
      const entry = change[side]
      if (entry === undefined) return []
      return [{ bytes: entry.size, run: (files) => putEntry(files, toStored(side, change.path), entry) }]
    }),
  )
  await performWork(tree, work)
  const list = Buffer.from(JSON.stringify(changes.map(({ path }) => path)))
  tree.write(tree.create(ROOT_INODE, PATHS_NAME, LIST_ATTRIBUTES), 0, list)
}

/** Reads what `writeMergedPaths` stored. */
export function readMergedPaths(tree: TreeFiles): TreeChange[] {
  const list = findEntry(tree, `/${PATHS_NAME}`)
  if (list === undefined) return []
  const paths: readonly string[] = JSON.parse(Buffer.concat([...list.content()]).toString())
  const find = (side: (typeof SIDES)[number], path: string): LinkEntry | undefined =>
    findEntry(tree, toStored(side, path))
  return paths.map((path) => ({ path, before: find('before', path), after: find('after', path) }))
}

function toStored(side: string, path: string): string {
  return `/${side}${path}`
}
