import { basename, type Change, dirname } from '../../vfs/index.ts'
import { invalidEntry, invalidInode } from '../protocol/index.ts'
import type { NodeTable } from './node-table.ts'

/** What the kernel is to be told of a change that somebody made: nothing of what it does not know. */
export function noticesOf({ path, from }: Change, table: NodeTable): Buffer[] {
  return [path, ...(from === undefined ? [] : [from])].flatMap((place) => {
    const [parent, node] = [table.at(dirname(place)), table.at(place)]
    return [
      ...(parent === undefined ? [] : [invalidEntry(parent.ino, basename(place))]),
      ...(node === undefined ? [] : [invalidInode(node.ino)]),
    ]
  })
}
