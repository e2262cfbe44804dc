import type { FeedItem, Vault } from '../backends/vault/index.ts'
import { type FileSystem, isVfsError, type Stat } from '../vfs/index.ts'

/** Returns the token of the last change, or of the last after another one. */
export async function readLastToken(
  vault: Vault,
  options: { readonly since?: string } = {},
): Promise<string | undefined> {
  let last = options.since
  for await (const { token } of vault.changes(options)) last = token
  return last
}

/** Returns the paths of a feed item, and whether each includes everything below. */
export function listTouchedPaths({ op, path, to }: FeedItem): [string, boolean][] {
  const isWhole = op === 'rename' || op === 'move' || path === '/'
  const paths = to === undefined ? [path] : [path, to]
  return paths.map((touched) => [touched, isWhole])
}

/** Returns the stat of a path; undefined if nothing has it. */
export async function statIfPresent(fs: FileSystem, path: string): Promise<Stat | undefined> {
  try {
    return await fs.stat(path)
  } catch (error) {
    if (isVfsError(error, 'ENOENT') || isVfsError(error, 'ENOTDIR') || isVfsError(error, 'ELOOP'))
      return undefined
    throw error
  }
}
