import type { FileType } from '../../vfs/index.ts'
import type { FsNode } from './emscripten.ts'
import { getErrno } from './errno.ts'
import type { MountedFiles } from './mounted-files.ts'
import { toMode } from './stat-attributes.ts'

/**
 * A directory that is open to be listed. The runtime lists the names and then looks each of them up to learn its type:
 * here that is answered from the listing, where it would take a `stat` for each name. A name that is gone by then is
 * EINVAL, which the runtime leaves out.
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
