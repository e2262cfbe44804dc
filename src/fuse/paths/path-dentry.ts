import { type CallContext, child, type FileSystem, isVfsError, type Stat } from '../../vfs/index.ts'
import type { NodeTable, PathNode } from './node-table.ts'

/** A name in a directory that the kernel knows. */
export interface PathDentry {
  readonly parent: PathNode
  readonly name: string
  readonly path: string
}

/** Returns a name in a directory with its path. ENOENT for a removed directory. */
export function getPathDentry(table: NodeTable, directory: number, name: string): PathDentry {
  const parent = table.get(directory)
  return { parent, name, path: child(table.getPath(parent), name) }
}

/** Returns the stat of a path; undefined if it does not exist. */
export async function findStat(fs: FileSystem, path: string, ctx: CallContext): Promise<Stat | undefined> {
  try {
    return await fs.stat(path, ctx)
  } catch (error) {
    if (isVfsError(error, 'ENOENT')) return undefined
    throw error
  }
}
