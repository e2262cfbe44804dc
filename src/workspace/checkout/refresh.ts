import { dirname } from 'node:path'
import {
  compareTouchedPaths,
  findEntry,
  type TreeChange,
  type TreeFiles,
  toStagedChanges,
} from '../link/index.ts'
import { removeTree, type StagedChange, stageInto } from '../session/index.ts'
import type { CheckoutHome, CheckoutOptions } from './checkout-home.ts'

/** Permissions as an export writes them: the user owns everything, and setuid and setgid are dropped. */
const PLAIN_PERMISSIONS = 0o777

/** Updates a directory from the files of one vault to those of another. O(changes). */
export async function refresh(
  home: CheckoutHome,
  tree: string,
  before: string,
  after: string,
): Promise<void> {
  const paths = await home.listTouchedPaths(before, after)
  const [old, current] = [await home.posix(before), await home.posix(after)]
  await stageInto(tree, createStagedChanges(old, current, paths))
}

/** Replaces the content of a directory by the files of a vault. O(files). */
export async function recreate(
  home: CheckoutHome,
  tree: string,
  vault: string,
  { signal, watch = (work) => work(() => {}) }: CheckoutOptions,
): Promise<void> {
  await removeTree(tree)
  const { files: total } = await home.info(vault)
  await watch((report) =>
    home.export(vault, tree, {
      isNew: true,
      ...(signal !== undefined && { signal }),
      onProgress: (progress) => report({ ...progress, total }),
    }),
  )
}

function createStagedChanges(old: TreeFiles, current: TreeFiles, paths: readonly string[]): StagedChange[] {
  const changes = new Map(compareTouchedPaths(old, current, paths).map((change) => [change.path, change]))
  // Parents included, because writing into a directory changes its times.
  for (const path of new Set(paths.flatMap((each) => [dirname(each), each]))) {
    const after = findEntry(current, path)
    if (path !== '/' && after?.type === 'directory')
      changes.set(path, { path, before: findEntry(old, path), after })
  }
  const inOrder = [...changes.values()].sort((one, other) => (one.path < other.path ? -1 : 1))
  return toStagedChanges(inOrder.map(excludeSpecialFile)).map(toExportedChange)
}

/** Treats pipes, sockets and devices as missing, because they are not checked out. */
function excludeSpecialFile(change: TreeChange): TreeChange {
  return change.after?.type === 'other' ? { ...change, after: undefined } : change
}

function toExportedChange(change: StagedChange): StagedChange {
  if (change.kind === 'gone') return change
  const { uid: _uid, gid: _gid, ...put } = change
  return { ...put, mode: put.mode & PLAIN_PERMISSIONS }
}
