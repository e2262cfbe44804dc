import type { CallContext, Stat } from '../../vfs/index.ts'
import { putEntry, type Reply, type Request, type Validity } from '../protocol/index.ts'
import type { Handles } from './handles.ts'
import type { Node } from './node-table.ts'
import type { OpenDirectory } from './open-directory.ts'
import type { Opened } from './opened.ts'
import { attributesOf, type Owner } from './path-attributes.ts'
import type { PathFiles } from './path-files.ts'
import type { Place } from './place.ts'

/** What the operations of one connection share. */
export interface PathConnection {
  readonly files: PathFiles
  readonly opened: Handles<Opened>
  readonly directories: Handles<OpenDirectory>
  readonly owner: Owner
  readonly validity: Validity
  /** A directory of the disk that has the files, if there is one. */
  readonly disk: string | undefined
}

/**
 * Puts an answer. Only here does an operation change what is known of the kernel: a request that was interrupted is
 * never answered with it, however its work ends.
 */
export type Put = (reply: Reply) => void

/** Does what a request asks for; rejects with a VfsError or WireError to refuse. */
export type PathOperation = (
  request: Request,
  connection: PathConnection,
  ctx: CallContext,
) => Put | Promise<Put>

/** An answer that says it was done, and nothing else. */
export const done: Put = () => {}

/** Answers with a name the kernel thereby knows. */
export function tell(
  reply: Reply,
  { files, owner, validity }: PathConnection,
  { parent, name }: Place,
  stat: Stat,
): Node {
  const node = files.table.tell(parent, name, stat.type)
  putEntry(reply, node.ino, attributesOf(stat, owner), validity)
  return node
}
