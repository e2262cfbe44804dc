import { basename, dirname, type PathChange } from '../../vfs/index.ts'
import { encodeInvalidEntry, encodeInvalidInode } from '../protocol/index.ts'
import type { NodeTable } from './node-table.ts'

/** Returns the kernel notices for a change by another process; none for paths that the kernel does not know. */
export function createNotices({ path, from }: PathChange, table: NodeTable): Buffer[] {
  return [path, ...(from === undefined ? [] : [from])].flatMap((place) => {
    const [parent, node] = [table.findNode(dirname(place)), table.findNode(place)]
    return [
      ...(parent === undefined ? [] : [encodeInvalidEntry(parent.ino, basename(place))]),
      ...(node === undefined ? [] : [encodeInvalidInode(node.ino)]),
    ]
  })
}
