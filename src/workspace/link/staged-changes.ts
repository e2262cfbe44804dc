import { toNanoseconds } from '../../machine/index.ts'
import type { StagedChange } from '../session/index.ts'
import type { TreeChange } from './compare-trees.ts'
import type { FirstNames } from './new-files.ts'

/**
 * Converts a fork's changes to those that a session stages on the directory. Entries below a removed or replaced
 * directory, and special files, are omitted. All names of a file but the first become links to it.
 */
export function toStagedChanges(
  changes: readonly TreeChange[],
  names: FirstNames = new Map(),
): StagedChange[] {
  let replaced: string | undefined
  return changes.flatMap((change): StagedChange[] => {
    const { path, before, after } = change
    if (replaced !== undefined && path.startsWith(`${replaced}/`)) return []
    if (before?.type === 'directory' && after?.type !== 'directory') replaced = path
    if (after === undefined) return [{ kind: 'gone', path }]
    const { type, mode, uid, gid, mtime, target } = after
    if (type === 'other') return []
    const mtimeNs = toNanoseconds(mtime)
    const first = names.get(path)
    const linkOf = first === undefined || first === path ? {} : { linkOf: first }
    const put = { kind: 'put', path, type, mode, mtimeNs, uid, gid, ...linkOf } as const
    if (type === 'symlink') return [{ ...put, target }]
    return [type === 'file' ? { ...put, content: () => after.content() } : put]
  })
}
