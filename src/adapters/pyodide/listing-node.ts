import type { FileType } from '../../vfs/index.ts'
import type { FsNode } from './emscripten.ts'
import { getErrno } from './errno.ts'
import type { MountedFiles } from './mounted-files.ts'
import { toMode } from './stat-attributes.ts'

/**
 * Creates a node for an open directory. The runtime lists the names and then looks each up to learn its type:
 * the listing answers that without a `stat` for each name. A name deleted meanwhile is
 * EINVAL, which the runtime skips.
 */
export function createListingNode(files: MountedFiles, directory: FsNode): FsNode {
  const node = files.createNode(directory.parent, directory.name, directory.mode)
  if (directory.parent === directory) node.parent = node
  const path = files.getPath(node)
  let types: ReadonlyMap<string, FileType> = new Map()
  const list = () => {
    types = new Map(files.sync.readdir(path, files.ctx).map(({ name, type }) => [name, type]))
  }
  const lookup = (parent: FsNode, name: string) =>
    files.attempt(() => {
      if (!types.has(name)) list()
      const type = types.get(name)
      if (type === undefined) throw files.createErrnoError(getErrno('EINVAL'))
      return files.createNode(parent, name, toMode({ type, mode: null }))
    })
  node.node_ops = { ...directory.node_ops, lookup }
  return node
}
