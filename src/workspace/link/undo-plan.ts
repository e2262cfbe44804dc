import { combineChanges } from './combine-changes.ts'
import { sortChanges, type TreeChange } from './compare-trees.ts'
import type { DirectoryTree } from './directory-tree.ts'
import type { OpenFork } from './fork-plan.ts'
import { addGitDetails } from './git-commits.ts'
import { isSameEntry } from './link-entry.ts'
import { maskTree } from './masked-host-tree.ts'
import { resolveChanges } from './resolve-changes.ts'
import { findEntry, type TreeFiles } from './tree.ts'
import { unpackRefChanges } from './unpacked-refs.ts'

/** A fork of the act that is undone. */
export interface UndoneFork extends OpenFork {
  /** Its mirror before the act. */
  readonly earlier: TreeFiles
  /** Changes of its mirror, from now to its state before the act. */
  readonly changes: readonly TreeChange[]
}

/**
 * Plans the undo of an act. Throws ApplyError if the directory changed since.
 * @param forks in the order of their apply.
 * @param merged states of the directory that are not those of the mirrors.
 */
export function planUndo(
  directory: DirectoryTree,
  forks: readonly UndoneFork[],
  merged: readonly TreeChange[],
): { readonly changes: TreeChange[]; readonly written: readonly TreeChange[] } {
  // The last fork wrote what is there now, the first one met what was there before.
  const combined = combineChanges(forks.map((fork) => unpack(fork).map(invert))).map(invert)
  const changes = replaceMerged(combined, merged)
  const states = new Map(changes.map(({ path, before, after }) => [path, [before, after]]))
  const [firsts, lasts] = [findWriters(forks.toReversed()), findWriters(forks)]
  const view = maskTree(directory, (path, content) =>
    (lasts.get(path) ?? forks[0])?.secrets?.maskLike(path, states.get(path) ?? [], content),
  )
  const { pending } = resolveChanges(view, changes, {
    isUnsure: () => false,
    findParent: (path) =>
      forks.map(({ mirror }) => findEntry(mirror, path)).find((entry) => entry !== undefined),
  })
  const belongsTo = (fork: UndoneFork, { path }: TreeChange) => (firsts.get(path) ?? forks[0]) === fork
  const restored = forks.flatMap((fork) => {
    const own = pending.filter((change) => belongsTo(fork, change))
    return fork.secrets?.restoreForUndo(directory, own) ?? own
  })
  const written = forks.length === 1 ? restored : sortChanges(restored)
  return { changes: addGitDetails(changes), written }
}

function unpack({ mirror, earlier, changes }: UndoneFork): TreeChange[] {
  return unpackRefChanges(changes, {
    before: (path) => findEntry(mirror, path),
    after: (path) => findEntry(earlier, path),
  })
}

/** Maps each path to the last of some forks that changed it. */
function findWriters(forks: readonly UndoneFork[]): Map<string, UndoneFork> {
  return new Map(forks.flatMap((fork) => fork.changes.map(({ path }) => [path, fork] as const)))
}

function invert({ path, before, after }: TreeChange): TreeChange {
  return { path, before: after, after: before }
}

/** Replaces changes by those of an undo at the paths that the apply merged. */
function replaceMerged(changes: readonly TreeChange[], merged: readonly TreeChange[]): TreeChange[] {
  if (merged.length === 0) return [...changes]
  const byPath = new Map([...changes, ...merged.map(invert)].map((change) => [change.path, change]))
  return sortChanges([...byPath.values()].filter(({ before, after }) => !isSameEntry(before, after)))
}
