import type { CallContext, FileSystem, PathChange } from '../../vfs/index.ts'
import {
  type CacheTtl,
  encodeInvalidAttributes,
  FuseReply,
  FuseRequest,
  negotiate,
  opcodes,
  toErrno,
  WireError,
} from '../protocol/index.ts'
import { createNotices } from './change-notices.ts'
import { HandleTable } from './handle-table.ts'
import type { MountOwner } from './path-attributes.ts'
import { PathFiles } from './path-files.ts'
import { pathHandlers } from './path-handlers.ts'
import type { PathConnection, PathRequestHandler, ReplyWriter } from './path-request-handler.ts'

const FORGET_BYTES = 16

export interface PathServerOptions {
  /** Goes along with every call: who asks. */
  readonly ctx?: CallContext
  readonly owner: MountOwner
  readonly validity: CacheTtl
  /** A directory of the disk that has the files; plenty of room is said to be left when absent. */
  readonly disk?: string | undefined
  /** How long an interrupted operation may take to end by itself: most signals mean nothing for it. */
  readonly interruptAfterMs: number
  /** Sends an answer or a notice, at once. */
  readonly send: (answer: readonly Uint8Array[]) => void
}

/**
 * Answers one kernel's requests from a file system, each when it is done, in whatever order that is.
 * Whatever it is sent, it answers or keeps still; it never throws.
 */
export class PathServer {
  readonly #connection: PathConnection
  readonly #options: PathServerOptions
  readonly #reply = new FuseReply()
  readonly #running = new Map<number, AbortController>()

  constructor(fs: FileSystem, options: PathServerOptions) {
    const { owner, validity, disk, ctx = {} } = options
    // The kernel has followed all links: one on the way was put there since.
    const files = new PathFiles(fs, { ...ctx, links: 'refuse' }, ({ parent }) => {
      // A file that is replaced may count as a change of its directory, of which the kernel would not think.
      if (parent !== undefined) options.send([encodeInvalidAttributes(parent.ino)])
    })
    this.#connection = {
      files,
      handles: new HandleTable(),
      directories: new HandleTable(),
      owner,
      validity,
      disk,
    }
    this.#options = options
  }

  /** Takes a request, which is the server's from now on. */
  handle(bytes: Buffer): void {
    const request = FuseRequest.parse(bytes)
    if (request === undefined) return
    try {
      this.#begin(request)
    } catch (error) {
      this.#refuse(request, error)
    }
  }

  /** What the kernel is to be told of a change that somebody made. */
  createNotices(change: PathChange): Buffer[] {
    return createNotices(change, this.#connection.files.table)
  }

  /** The kernel is gone: what it left unfinished is ended, and what it left open is stored. */
  async close(): Promise<void> {
    for (const running of this.#running.values()) running.abort()
    const { files, handles, directories } = this.#connection
    await files.close()
    await Promise.allSettled([...handles.values(), ...directories.values()].map((open) => open.close()))
  }

  #begin(request: FuseRequest): void {
    const { opcode } = request
    if (opcode === opcodes.forget) this.#forget(request.node, request.u64(0))
    else if (opcode === opcodes.batchForget) this.#forgetAll(request)
    else if (opcode === opcodes.interrupt) this.#interrupt(request.u64(0))
    else if (opcode === opcodes.init)
      this.#answer(request, (reply) => void negotiate(request, reply, 'paths'))
    else {
      const operation = pathHandlers.get(opcode)
      if (operation === undefined) throw new WireError('ENOSYS')
      void this.#perform(request, operation)
    }
  }

  async #perform(request: FuseRequest, operation: PathRequestHandler): Promise<void> {
    const { promise: interrupted, reject } = Promise.withResolvers<never>()
    const running = new AbortController()
    const { signal } = running
    signal.addEventListener('abort', () => reject(new WireError('EINTR')), { once: true })
    this.#running.set(request.unique, running)
    try {
      const work = operation(request, this.#connection, this.#connection.files.context(signal))
      this.#answer(request, await Promise.race([work, interrupted]))
    } catch (error) {
      this.#refuse(request, error)
    } finally {
      this.#running.delete(request.unique)
    }
  }

  /** Ends an operation that does not end by itself soon. */
  #interrupt(unique: number): void {
    const running = this.#running.get(unique)
    if (running === undefined) return
    setTimeout(() => running.abort(), this.#options.interruptAfterMs).unref()
  }

  #answer(request: FuseRequest, put: ReplyWriter): void {
    this.#reply.begin(request)
    put(this.#reply)
    this.#options.send(this.#reply.pieces())
  }

  #refuse(request: FuseRequest, error: unknown): void {
    this.#reply.begin(request)
    this.#reply.setError(toErrno(error))
    this.#options.send(this.#reply.pieces())
  }

  #forget(ino: number, times: number): void {
    this.#connection.files.table.forget(ino, times)
  }

  #forgetAll(request: FuseRequest): void {
    const count = request.u32(0)
    for (let index = 0; index < count; index++) {
      const at = 8 + index * FORGET_BYTES
      this.#forget(request.u64(at), request.u64(at + 8))
    }
  }
}
