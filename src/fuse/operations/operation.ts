import type { CutAppends } from '../cut-appends.ts'
import type { InodeFs } from '../inode-fs.ts'
import type { KnownNodes } from '../known-nodes.ts'
import type { LateAttributes } from '../late-attributes.ts'
import type { ListingCookies } from '../listing-cookies.ts'
import { putEntry, type Reply, type Request, type Validity } from '../protocol/index.ts'

/** What the operations of one connection share. */
export interface Connection {
  readonly files: InodeFs
  /** Attributes are asked and set here, and every other change is committed with those that wait. */
  readonly attributes: LateAttributes
  readonly nodes: KnownNodes
  readonly cookies: ListingCookies
  readonly cuts: CutAppends
  readonly validity: Validity
  /** By which the kernel gets to know the file it is woken with. */
  readonly wakeName: string | undefined
  /** Has the kernel drop what it has cached of an inode's content. */
  readonly reportStale: (ino: number) => void
}

/** Does what a request asks for and puts the answer; throws a VfsError or WireError to refuse. */
export type Operation = (request: Request, reply: Reply, connection: Connection) => void

/** Answers with an inode the kernel thereby knows. */
export function tell(reply: Reply, { attributes: late, nodes, validity }: Connection, ino: number): void {
  const attributes = late.of(ino)
  nodes.told(ino)
  putEntry(reply, ino, attributes, validity)
}

/** Commits everything that waits for more to come: all is quiet. */
export function settle({ files, attributes, nodes }: Connection): void {
  attributes.commit()
  nodes.settle()
  files.settle()
}
