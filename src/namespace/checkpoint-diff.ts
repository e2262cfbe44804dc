import type { Vault } from '../backends/vault/index.ts'
import type { TreePair } from '../diff/index.ts'
import {
  diff,
  type FileSystem,
  isLinkable,
  isVfsError,
  MemoryFs,
  type PathChange,
  readFile,
} from '../vfs/index.ts'

/** The two vaults of a fork of a directory, and the changes between them. */
interface ComparedFork {
  /** The state of the directory, at the paths that the fork has touched. */
  readonly mirror: Vault
  /** The state of the fork, at the same paths. */
  readonly vault: Vault
  readonly changes: AsyncIterable<PathChange>
}

/**
 * Compares a fork of a directory with a checkpoint of the fork. A path that the fork had not changed at the checkpoint
 * was as in the directory, and the mirror has that state. O(changes).
 */
export async function compareWithCheckpoint(
  { mirror, vault, changes }: ComparedFork,
  checkpoint: string,
): Promise<{ readonly changes: AsyncIterable<PathChange>; readonly trees: TreePair }> {
  const earlier = vault.at(checkpoint)
  const changedNow = await listPaths(changes)
  const changedThen = await listPaths(diff(mirror.at(checkpoint), earlier))
  const changedSince = await listPaths(vault.diff(checkpoint))
  const [before, after] = [new MemoryFs(), new MemoryFs()]
  for (const path of changedNow.union(changedThen)) {
    if (changedThen.has(path) && !changedSince.has(path)) continue
    await copyEntry(changedThen.has(path) ? earlier : mirror, before, path)
    await copyEntry(changedNow.has(path) ? vault : mirror, after, path)
  }
  return { changes: diff(before, after), trees: { before, after } }
}

async function listPaths(changes: AsyncIterable<PathChange>): Promise<Set<string>> {
  const paths = new Set<string>()
  for await (const { path, from } of changes) {
    paths.add(path)
    if (from !== undefined) paths.add(from)
  }
  return paths
}

/** Copies one entry, if there is one. */
async function copyEntry(source: FileSystem, target: MemoryFs, path: string): Promise<void> {
  try {
    const { type, mode } = await source.stat(path)
    if (type === 'directory') await target.mkdir(path, { parents: true })
    else if (type === 'symlink' && isLinkable(source)) await target.symlink(await source.readlink(path), path)
    else if (type === 'file')
      await target.write(path, await readFile(source, path), mode === null ? {} : { mode })
  } catch (error) {
    if (!isVfsError(error, 'ENOENT') && !isVfsError(error, 'ENOTDIR')) throw error
  }
}
