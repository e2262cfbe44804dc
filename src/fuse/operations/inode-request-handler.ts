import type { DeferredAttributes } from '../deferred-attributes.ts'
import type { InodeFs } from '../inode-fs.ts'
import type { ListingCookies } from '../listing-cookies.ts'
import type { LookupCounts } from '../lookup-counts.ts'
import { type CacheTtl, type FuseReply, type FuseRequest, putEntry } from '../protocol/index.ts'
import type { SplitAppends } from '../split-appends.ts'

/** What the operations of one connection share. */
export interface FuseConnection {
  readonly files: InodeFs
  /** Attributes are asked and set here, and every other change is committed with those that wait. */
  readonly attributes: DeferredAttributes
  readonly nodes: LookupCounts
  readonly cookies: ListingCookies
  readonly splitAppends: SplitAppends
  readonly validity: CacheTtl
  /** By which the kernel gets to know the file it is woken with. */
  readonly wakeName: string | undefined
  /** Has the kernel drop what it has cached of an inode's content. */
  readonly reportStale: (ino: number) => void
}

/** Does what a request asks for and puts the answer; throws a VfsError or WireError to refuse. */
export type InodeRequestHandler = (request: FuseRequest, reply: FuseReply, connection: FuseConnection) => void

/** Answers with an inode the kernel thereby knows. */
export function replyWithInode(
  reply: FuseReply,
  { attributes: late, nodes, validity }: FuseConnection,
  ino: number,
): void {
  const attributes = late.get(ino)
  nodes.increment(ino)
  putEntry(reply, ino, attributes, validity)
}

/** Commits everything that waits for more to come: all is quiet. */
export function commitPending({ files, attributes, nodes }: FuseConnection): void {
  attributes.commit()
  nodes.releaseForgotten()
  files.commit()
}
