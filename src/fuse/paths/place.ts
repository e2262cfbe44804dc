import { type CallContext, child, type FileSystem, isVfsError, type Stat } from '../../vfs/index.ts'
import type { Node, NodeTable } from './node-table.ts'

/** A name in a directory the kernel knows. */
export interface Place {
  readonly parent: Node
  readonly name: string
  readonly path: string
}

/** ENOENT for a directory that is gone. */
export function placeIn(table: NodeTable, directory: number, name: string): Place {
  const parent = table.get(directory)
  return { parent, name, path: child(table.pathOf(parent), name) }
}

/** What is at a path; undefined if there is nothing. */
export async function statIfPresent(
  fs: FileSystem,
  path: string,
  ctx: CallContext,
): Promise<Stat | undefined> {
  try {
    return await fs.stat(path, ctx)
  } catch (error) {
    if (isVfsError(error, 'ENOENT')) return undefined
    throw error
  }
}
