import { basename, type CallContext, dirname, type FileSystem, type PathChange } from '../../vfs/index.ts'
import {
  type CacheTtl,
  encodeInvalidAttributes,
  encodeInvalidEntry,
  encodeInvalidInode,
  FuseReply,
  FuseRequest,
  negotiate,
  opcodes,
  toErrno,
  WireError,
} from '../protocol/index.ts'
import { HandleTable } from './handle-table.ts'
import type { NodeTable } from './node-table.ts'
import type { MountOwner } from './path-attributes.ts'
import { PathFiles } from './path-files.ts'
import { pathHandlers } from './path-handlers.ts'
import type { PathConnection, PathRequestHandler, ReplyWriter } from './path-request-handler.ts'

const FORGET_HEADER_BYTES = 8
const FORGET_BYTES = 16

export interface PathServerOptions {
  /** Context of every call. */
  readonly ctx?: CallContext
  readonly owner: MountOwner
  readonly validity: CacheTtl
  /** Directory on the disk with the files; a fixed amount of free space is reported when absent. */
  readonly disk?: string | undefined
  /** Time an interrupted operation may take to end by itself; most signals do not concern it. */
  readonly interruptAfterMs: number
  /** Sends a reply or a notice at once. */
  readonly send: (message: readonly Uint8Array[]) => void
}

/**
 * Serves one kernel's requests from a file system concurrently, replying in order of completion.
 * It replies or stays silent for any input and never throws.
 */
export class PathServer {
  readonly #connection: PathConnection
  readonly #options: PathServerOptions
  readonly #reply = new FuseReply()
  readonly #running = new Map<number, AbortController>()

  constructor(fs: FileSystem, options: PathServerOptions) {
    const { owner, validity, disk, ctx = {} } = options
    // The kernel has resolved all links; a link in the path has been added since.
    const files = new PathFiles(fs, { ...ctx, links: 'refuse' }, ({ parent }) => {
      // Replacing a file may change its directory, which the kernel does not expect.
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

  /** Handles a request and takes ownership of its buffer. */
  handle(bytes: Buffer): void {
    const request = FuseRequest.parse(bytes)
    if (request === undefined) return
    try {
      this.#begin(request)
    } catch (error) {
      this.#refuse(request, error)
    }
  }

  /** Returns the kernel notices for a change by another process. */
  createNotices(change: PathChange): Buffer[] {
    return createNotices(change, this.#connection.files.table)
  }

  /** Aborts running requests after the kernel has disconnected, and stores unsaved changes. */
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
      const work = operation(request, this.#connection, this.#connection.files.createContext(signal))
      this.#answer(request, await Promise.race([work, interrupted]))
    } catch (error) {
      this.#refuse(request, error)
    } finally {
      this.#running.delete(request.unique)
    }
  }

  /** Aborts an operation after a while, if it has not ended by itself. */
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
      const offset = FORGET_HEADER_BYTES + index * FORGET_BYTES
      this.#forget(request.u64(offset), request.u64(offset + 8))
    }
  }
}

/** Returns the kernel notices for a change by another process; none for paths that the kernel does not know. */
function createNotices({ path, from }: PathChange, table: NodeTable): Buffer[] {
  return [path, ...(from === undefined ? [] : [from])].flatMap((changedPath) => {
    const [parent, node] = [table.findNode(dirname(changedPath)), table.findNode(changedPath)]
    return [
      ...(parent === undefined ? [] : [encodeInvalidEntry(parent.ino, basename(changedPath))]),
      ...(node === undefined ? [] : [encodeInvalidInode(node.ino)]),
    ]
  })
}
