import type { CallContext, Stat } from '../../vfs/index.ts'
import { type CacheTtl, type FuseReply, type FuseRequest, putEntry } from '../protocol/index.ts'
import type { HandleTable } from './handle-table.ts'
import type { PathNode } from './node-table.ts'
import type { OpenDirectory } from './open-directory.ts'
import type { OpenHandle } from './open-handle.ts'
import { type MountOwner, toInodeAttributes } from './path-attributes.ts'
import type { PathDentry } from './path-dentry.ts'
import type { PathFiles } from './path-files.ts'

/** What the operations of one connection share. */
export interface PathConnection {
  readonly files: PathFiles
  readonly handles: HandleTable<OpenHandle>
  readonly directories: HandleTable<OpenDirectory>
  readonly owner: MountOwner
  readonly validity: CacheTtl
  /** A directory of the disk that has the files, if there is one. */
  readonly disk: string | undefined
}

/**
 * Puts an answer. Only here does an operation change what is known of the kernel: a request that was interrupted is
 * never answered with it, however its work ends.
 */
export type ReplyWriter = (reply: FuseReply) => void

/** Does what a request asks for; rejects with a VfsError or WireError to refuse. */
export type PathRequestHandler = (
  request: FuseRequest,
  connection: PathConnection,
  ctx: CallContext,
) => ReplyWriter | Promise<ReplyWriter>

/** An answer that says it was done, and nothing else. */
export const emptyReply: ReplyWriter = () => {}

/** Answers with a name the kernel thereby knows. */
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
