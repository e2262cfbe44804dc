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

/** Nobody waits for an answer to these. */
const OPCODES_WITHOUT_REPLY: ReadonlySet<number> = new Set([
  opcodes.forget,
  opcodes.batchForget,
  opcodes.interrupt,
  opcodes.notifyReply,
])

export interface FuseServerOptions {
  readonly validity: CacheTtl
  /** By which the kernel gets to know the file it is woken with. */
  readonly wakeName?: string
  /** Hears of each inode of which the kernel has cached content that is not so. */
  readonly onStale?: (ino: number) => void
}

/**
 * Answers one kernel's requests from a file system, one after the other: bytes in, bytes out, nothing else.
 * Whatever it is sent, it answers or keeps still; it never throws.
 */
export class FuseServer {
  readonly #connection: FuseConnection
  readonly #reply = new FuseReply()
  #isInitialized = false

  constructor(files: InodeFs, { validity, wakeName, onStale = () => {} }: FuseServerOptions) {
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

  /** The answer to a request, to be sent before the next is handled; undefined if none is due. */
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

  /** Another number after each change, 0 if others see everything; a `statfs` or `notifyReply` lets them. */
  get waiting(): number {
    return this.#connection.attributes.size + this.#connection.files.pendingVersion
  }

  /** The kernel is gone: files that only it held open go, too. */
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
      throw new VfsError('EIO', '/', { op: 'request', detail: 'the kernel has not introduced itself' })
    const operation = inodeHandlers.get(request.opcode)
    if (operation === undefined) throw new WireError('ENOSYS')
    operation(request, reply, this.#connection)
  }
}
