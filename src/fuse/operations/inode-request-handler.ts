import type { DeferredAttributes } from '../deferred-attributes.ts'
import type { InodeFs } from '../inode-fs.ts'
import type { ListingCookies } from '../listing-cookies.ts'
import type { LookupCounts } from '../lookup-counts.ts'
import { type CacheTtl, type FuseReply, type FuseRequest, putEntry } from '../protocol/index.ts'
import type { SplitAppends } from '../split-appends.ts'

/** Shared state of the handlers of one connection. */
export interface FuseConnection {
  readonly files: InodeFs
  /** Reads and sets attributes. Every other change is committed with the deferred ones. */
  readonly attributes: DeferredAttributes
  readonly nodes: LookupCounts
  readonly cookies: ListingCookies
  readonly splitAppends: SplitAppends
  readonly validity: CacheTtl
  /** Name by which the kernel looks up the wake file. */
  readonly wakeName: string | undefined
  /** Makes the kernel drop its cached content of an inode. */
  readonly reportStale: (ino: number) => void
}

/** Handles a request and writes the reply; throws a VfsError or WireError to fail it. */
export type InodeRequestHandler = (request: FuseRequest, reply: FuseReply, connection: FuseConnection) => void

/** Replies with an inode and counts the lookup. */
export function replyWithInode(
  reply: FuseReply,
  { attributes: deferred, nodes, validity }: FuseConnection,
  ino: number,
): void {
  const attributes = deferred.get(ino)
  nodes.increment(ino)
  putEntry(reply, ino, attributes, validity)
}

/** Commits deferred attributes, releases forgotten inodes and makes all changes visible to others. */
export function commitPending({ files, attributes, nodes }: FuseConnection): void {
  attributes.commit()
  nodes.releaseForgotten()
  files.commit()
}
