import { findPackedRefsPath, parseGitPath, removePackedRefs } from '../../git-files/index.ts'
import type { TreeChange } from './compare-trees.ts'
import type { DirectoryTree } from './directory-tree.ts'
import type { FindEntry } from './git-commits.ts'
import { HostPathError } from './host-path-error.ts'
import { createFileEntry, isSameEntry, type LinkEntry, readEntry } from './link-entry.ts'
import { UnpackedRefs } from './unpacked-refs.ts'

/**
 * The refs of a directory that changes meet. They are compared as git reads them, and written loose, which wins over
 * `packed-refs`. A deleted ref leaves that file too.
 */
export class DirectoryRefs {
  readonly #find: FindEntry
  readonly #refs: UnpackedRefs
  readonly #removed: ReadonlySet<string>

  /** @param removed paths that the changes remove. A repository that goes as a whole is one of files. */
  constructor(find: FindEntry, removed: ReadonlySet<string>) {
    this.#find = find
    this.#refs = new UnpackedRefs(find)
    this.#removed = removed
  }

  /** Returns the packed ref that a change meets in place of a loose one; undefined if there is none. */
  findPacked({ path, before, after }: TreeChange, loose: LinkEntry | undefined): LinkEntry | undefined {
    const isRef = before?.type === 'file' || after?.type === 'file'
    const isFree = loose === undefined || (loose.type === 'directory' && before?.type === 'file')
    return isRef && isFree ? this.#findLine(path) : undefined
  }

  /** Converts changes of refs to those of files: there is none in place of a packed ref. */
  toFileChanges(changes: readonly TreeChange[]): TreeChange[] {
    const removed = new Map<string, Set<string>>()
    const converted = changes.flatMap((change) => {
      const { path, before, after } = change
      const file = findPackedRefsPath(path)
      const isRef = before?.type === 'file' || after?.type === 'file'
      if (file === undefined || !isRef || this.#findLine(path) === undefined) return [change]
      if (after?.type !== 'file')
        removed.set(file, (removed.get(file) ?? new Set()).add(parseGitPath(path)?.name ?? ''))
      const entry = this.#find(path)
      return entry === undefined && after === undefined ? [] : [{ ...change, before: entry }]
    })
    return [...converted, ...[...removed].flatMap(([file, names]) => this.#removeLines(file, names))]
  }

  #findLine(path: string): LinkEntry | undefined {
    return this.#removed.has(parseGitPath(path)?.root ?? '') ? undefined : this.#refs.findPacked(path)
  }

  #removeLines(path: string, names: ReadonlySet<string>): TreeChange[] {
    const entry = this.#find(path)
    if (entry?.type !== 'file') return []
    const before = createFileEntry(entry, readEntry(entry))
    const now = Date.now()
    const mtime = { seconds: Math.floor(now / 1000), nanos: (now % 1000) * 1_000_000 }
    const after = { ...createFileEntry(before, removePackedRefs(readEntry(before), names)), mtime }
    return [{ path, before, after, isMerged: true }]
  }
}

/**
 * Guards the write of `packed-refs` against git, which replaces that file too. The new content is asked for once the old
 * file is pinned: it throws EBUSY if git has written meanwhile, or holds its lock. A later write of git is noticed by the
 * inode.
 */
export function guardPackedRefs(tree: DirectoryTree, changes: readonly TreeChange[]): TreeChange[] {
  return changes.map((change) => {
    const { path, before, after } = change
    if (parseGitPath(path)?.part !== 'packed-refs' || before === undefined || after?.type !== 'file')
      return change
    const content = function* () {
      assertUnchanged(tree, path, before)
      yield* after.content()
    }
    return { ...change, after: { ...after, content, getReference: undefined } }
  })
}

function assertUnchanged(tree: DirectoryTree, path: string, before: LinkEntry): void {
  const isLocked = tree.findEntry(`${path}.lock`) !== undefined
  if (!isLocked && isSameEntry(tree.findEntry(path), before)) return
  const shown = tree.path + path
  const problem = isLocked ? `git is writing it, or left '${shown}.lock'` : 'git has written it meanwhile'
  throw new HostPathError('EBUSY', shown, `'${shown}' cannot be changed: ${problem}; try again`)
}
