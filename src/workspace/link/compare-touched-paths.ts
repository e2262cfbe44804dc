import { dirname } from 'node:path'
import { toNanoseconds } from '../../machine/index.ts'
import type { SessionChange } from '../session/index.ts'
import type { TreeChange } from './compare-trees.ts'
import { isSameEntry, type LinkEntry } from './link-entry.ts'
import { findEntry, findInode, type TreeFiles } from './tree.ts'

/**
 * Compares two trees at sorted paths. Owners and times of files count, and so do other names of a changed file. The
 * root does not count, nor do entries that were removed with their directory. O(paths).
 */
export function compareTouchedPaths(
  before: TreeFiles,
  after: TreeFiles,
  paths: readonly string[],
): TreeChange[] {
  const names = findFirstNames(after, paths)
  const reported = new Set<string>()
  return paths.flatMap((path) => {
    if (path === '/') return []
    const [old, current] = [findEntry(before, path), findEntry(after, path)]
    if (current === undefined && findEntry(after, dirname(path))?.type !== 'directory') return []
    if (isUntouched(old, current) && !reported.has(names.get(path) ?? '')) return []
    reported.add(path)
    return [{ path, before: old, after: current }]
  })
}

/** True if two trees are equal at the given paths, except for times. O(paths). */
export function isSameAt(before: TreeFiles, after: TreeFiles, paths: readonly string[]): boolean {
  return paths.every((path) => {
    const [old, current] = [findEntry(before, path), findEntry(after, path)]
    return path === '/' || (isSameOwner(old, current) && isSameEntry(old, current))
  })
}

/** Converts changes of a tree to those of a session, with its files below `root` on this machine. */
export function toSessionChanges(
  after: TreeFiles,
  changes: readonly TreeChange[],
  paths: readonly string[],
  root: string,
): SessionChange[] {
  const names = findFirstNames(after, paths)
  return changes.map(({ path, after: current }) => {
    if (current === undefined) return { kind: 'gone', path }
    const { type, mode, uid, gid, mtime } = current
    const mtimeNs = toNanoseconds(mtime)
    const first = names.get(path)
    const linkOf = first === path ? undefined : first
    const put = { kind: 'put', path, type, host: root + path, mode, mtimeNs, uid, gid } as const
    return linkOf === undefined ? put : { ...put, linkOf }
  })
}

/** Maps each of these paths whose file has several names to its first name. A change of one name changes all. */
export function findFirstNames(tree: TreeFiles, paths: readonly string[]): Map<string, string> {
  const firsts = new Map<number, string>()
  const names = new Map<string, string>()
  for (const path of paths) {
    const ino = findInode(tree, path)
    if (ino === undefined) continue
    const { type, nlink } = tree.getattr(ino)
    if (type === 'directory' || nlink < 2) continue
    const first = firsts.get(ino) ?? path
    firsts.set(ino, first)
    names.set(path, first)
  }
  return names
}

function isUntouched(one: LinkEntry | undefined, other: LinkEntry | undefined): boolean {
  if (one === undefined || other === undefined) return one === other
  if (!isSameOwner(one, other)) return false
  return (one.type !== 'file' || isSameTime(one, other)) && isSameEntry(one, other)
}

function isSameOwner(one: LinkEntry | undefined, other: LinkEntry | undefined): boolean {
  return one?.uid === other?.uid && one?.gid === other?.gid
}

function isSameTime({ mtime: one }: LinkEntry, { mtime: other }: LinkEntry): boolean {
  return one.seconds === other.seconds && one.nanos === other.nanos
}
