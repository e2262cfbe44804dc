import type { CallContext, Stat } from '../../vfs/index.ts'
import { type CacheTtl, type FuseReply, type FuseRequest, putEntry } from '../protocol/index.ts'
import type { HandleTable } from './handle-table.ts'
import type { PathNode } from './node-table.ts'
import type { OpenDirectory } from './open-directory.ts'
import type { OpenHandle } from './open-handle.ts'
import { type MountOwner, toInodeAttributes } from './path-attributes.ts'
import type { PathDentry } from './path-dentry.ts'
import type { PathFiles } from './path-files.ts'

/** Shared state of the handlers of one connection. */
export interface PathConnection {
  readonly files: PathFiles
  readonly handles: HandleTable<OpenHandle>
  readonly directories: HandleTable<OpenDirectory>
  readonly owner: MountOwner
  readonly validity: CacheTtl
  /** Directory on the disk with the files, if any. */
  readonly disk: string | undefined
}

/**
 * Writes a reply. A handler updates the kernel's state only here:
 * an interrupted request never runs it, however its work ends.
 */
export type ReplyWriter = (reply: FuseReply) => void

/** Handles a request; rejects with a VfsError or WireError to fail it. */
export type PathRequestHandler = (
  request: FuseRequest,
  connection: PathConnection,
  ctx: CallContext,
) => ReplyWriter | Promise<ReplyWriter>

/** Reports success without content. */
export const emptyReply: ReplyWriter = () => {}

/** Replies with a name and counts the lookup. */
export function replyWithName(
  reply: FuseReply,
  { files, owner, validity }: PathConnection,
  { parent, name }: PathDentry,
  stat: Stat,
): PathNode {
  const node = files.table.addLookup(parent, name, stat.type)
  putEntry(reply, node.ino, toInodeAttributes(stat, owner), validity)
  return node
}
