import { VfsError } from '../vfs/index.ts'
import { CutAppends } from './cut-appends.ts'
import type { InodeFs } from './inode-fs.ts'
import { KnownNodes } from './known-nodes.ts'
import { LateAttributes } from './late-attributes.ts'
import { ListingCookies } from './listing-cookies.ts'
import { type Connection, operations } from './operations/index.ts'
import { errnoOf, negotiate, opcodes, Reply, Request, type Validity, WireError } from './protocol/index.ts'

/** Nobody waits for an answer to these. */
const silent: ReadonlySet<number> = new Set([
  opcodes.forget,
  opcodes.batchForget,
  opcodes.interrupt,
  opcodes.notifyReply,
])

export interface FuseServerOptions {
  readonly validity: Validity
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
  readonly #connection: Connection
  readonly #reply = new Reply()
  #isIntroduced = false

  constructor(files: InodeFs, { validity, wakeName, onStale = () => {} }: FuseServerOptions) {
    this.#connection = {
      files,
      attributes: new LateAttributes(files),
      nodes: new KnownNodes(files),
      cookies: new ListingCookies(),
      cuts: new CutAppends(),
      validity,
      wakeName,
      reportStale: onStale,
    }
  }

  /** The answer to a request, to be sent before the next is handled; undefined if none is due. */
  handle(bytes: Buffer): readonly Uint8Array[] | undefined {
    const request = Request.parse(bytes)
    if (request === undefined) return undefined
    const reply = this.#reply
    reply.begin(request)
    try {
      this.#perform(request, reply)
    } catch (error) {
      reply.refuse(errnoOf(error))
    }
    return silent.has(request.opcode) ? undefined : reply.pieces()
  }

  /** Another number after each change, 0 if others see everything; a `statfs` or `notifyReply` lets them. */
  get waiting(): number {
    return this.#connection.attributes.size + this.#connection.files.waiting
  }

  /** The kernel is gone: files that only it held open go, too. */
  close(): void {
    this.#connection.attributes.commit()
    this.#connection.nodes.clear()
    this.#connection.files.settle()
  }

  #perform(request: Request, reply: Reply): void {
    if (request.opcode === opcodes.init) {
      this.#isIntroduced = negotiate(request, reply)
      return
    }
    if (!this.#isIntroduced)
      throw new VfsError('EIO', '/', { op: 'request', detail: 'the kernel has not introduced itself' })
    const operation = operations.get(request.opcode)
    if (operation === undefined) throw new WireError('ENOSYS')
    operation(request, reply, this.#connection)
  }
}
