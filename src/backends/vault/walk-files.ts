import { type DirectoryEntry, type Files, statOf } from '../../store/index.ts'
import { child, type WalkEntry, type WalkOptions } from '../../vfs/index.ts'

type NamedEntry = { readonly name: string } & DirectoryEntry

/** Depth first over a tree of files that does not change meanwhile; without recursion, so deep trees are fine. */
export async function* walkFiles(
  files: Files,
  root: string,
  { maxDepth = Number.POSITIVE_INFINITY, includeDirs = false }: WalkOptions,
): AsyncGenerator<WalkEntry> {
  const start = files.find(files.resolve(root, true, 'walk'))
  if (maxDepth < 1 || start === undefined || files.inode(start).type !== 'directory') return
  const levels: { path: string; entries: Iterator<NamedEntry> }[] = [
    { path: root, entries: files.entries(start) },
  ]
  for (let level = levels.at(-1); level; level = levels.at(-1)) {
    const next = level.entries.next()
    if (next.done) {
      levels.pop()
      continue
    }
    const { name, inode, type } = next.value
    const path = child(level.path, name)
    if (type !== 'directory' || includeDirs) yield { path, stat: statOf(files.inode(inode)) }
    if (type === 'directory' && levels.length < maxDepth) levels.push({ path, entries: files.entries(inode) })
  }
}
