import { VfsError } from '../vfs/index.ts'
import { DeferredAttributes } from './deferred-attributes.ts'
import type { InodeFs } from './inode-fs.ts'
import { ListingCookies } from './listing-cookies.ts'
import { LookupCounts } from './lookup-counts.ts'
import { type FuseConnection, inodeHandlers } from './operations/index.ts'
import {
  type CacheTtl,
  FuseReply,
  FuseRequest,
  negotiate,
  opcodes,
  toErrno,
  WireError,
} from './protocol/index.ts'
import { SplitAppends } from './split-appends.ts'

/** Requests without a reply. */
const OPCODES_WITHOUT_REPLY: ReadonlySet<number> = new Set([
  opcodes.forget,
  opcodes.batchForget,
  opcodes.interrupt,
  opcodes.notifyReply,
])

const XATTR_OPCODES: ReadonlySet<number> = new Set([
  opcodes.getxattr,
  opcodes.listxattr,
  opcodes.setxattr,
  opcodes.removexattr,
])

export interface FuseServerOptions {
  /** Time that the kernel may cache names and attributes. */
  readonly validity: CacheTtl
  /** Name by which the kernel looks up the wake file. */
  readonly wakeName?: string
  /** Refuses extended attributes with ENOSYS: the kernel then answers ENOTSUP itself and sends no more such requests. */
  readonly withoutXattrs?: boolean
  /** Called with each inode whose content in the kernel's cache is wrong. */
  readonly onStale?: (ino: number) => void
}

/**
 * Serves one kernel's requests from a file system, one at a time: bytes in, bytes out.
 * It replies or stays silent for any input and never throws.
 */
export class FuseServer {
  readonly #connection: FuseConnection
  readonly #reply = new FuseReply()
  readonly #refused: ReadonlySet<number>
  #isInitialized = false

  constructor(
    files: InodeFs,
    { validity, wakeName, withoutXattrs = false, onStale = () => {} }: FuseServerOptions,
  ) {
    this.#refused = withoutXattrs ? XATTR_OPCODES : new Set()
    this.#connection = {
      files,
      attributes: new DeferredAttributes(files),
      nodes: new LookupCounts(files),
      cookies: new ListingCookies(),
      splitAppends: new SplitAppends(),
      validity,
      wakeName,
      reportStale: onStale,
    }
  }

  /** Handles a request and returns its reply, to be sent before the next request; undefined if none is due. */
  handle(bytes: Buffer): readonly Uint8Array[] | undefined {
    const request = FuseRequest.parse(bytes)
    if (request === undefined) return undefined
    const reply = this.#reply
    reply.begin(request)
    try {
      this.#perform(request, reply)
    } catch (error) {
      reply.setError(toErrno(error))
    }
    return OPCODES_WITHOUT_REPLY.has(request.opcode) ? undefined : reply.pieces()
  }

  /**
   * Changes with each uncommitted change; 0 if all are committed. `statfs`, `notifyReply` and a lookup of the wake file
   * commit.
   */
  get waiting(): number {
    return this.#connection.attributes.size + this.#connection.files.pendingVersion
  }

  /** Commits everything and releases all inodes, after the kernel has disconnected; unlinked files are removed. */
  close(): void {
    this.#connection.attributes.commit()
    this.#connection.nodes.clear()
    this.#connection.files.commit()
  }

  #perform(request: FuseRequest, reply: FuseReply): void {
    if (request.opcode === opcodes.init) {
      this.#isInitialized = negotiate(request, reply)
      return
    }
    if (!this.#isInitialized)
      throw new VfsError('EIO', '/', { op: 'request', detail: 'the kernel has not sent FUSE_INIT' })
    const operation = inodeHandlers.get(request.opcode)
    if (operation === undefined || this.#refused.has(request.opcode)) throw new WireError('ENOSYS')
    operation(request, reply, this.#connection)
  }
}
