import type { IncomingMessage, ServerResponse } from 'node:http'
import type { OnReadOpts, Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { LargeReads } from './large-reads.ts'

/** Bodies from this length on are passed on without the parser. */
const MIN_DIRECT_BYTES = 1024 * 1024

/** Statuses of answers without a body: no content, not modified. They may announce a length all the same. */
const BODILESS: ReadonlySet<number | undefined> = new Set([204, 304])

const readsBySocket = new WeakMap<Duplex, ServerReads>()

/**
 * Reads of a server's socket for Node's parser of HTTP, which copies each byte. A long body of known length is passed on
 * without it.
 */
export class ServerReads {
  /** Options of the socket, which has to be paused until it is attached. */
  readonly onread: OnReadOpts = new LargeReads((chunk) => this.#take(chunk)).onread
  #socket: Socket | undefined
  #take: (chunk: Buffer) => boolean = (chunk) => {
    this.#socket?.emit('data', chunk)
    // The parser pauses the socket itself.
    return true
  }

  /** Starts to read. */
  attach(socket: Socket): void {
    this.#socket = socket
    readsBySocket.set(socket, this)
    socket.resume()
  }

  /**
   * Passes the body of an answer on, whose head the parser has just read. The server's connection cannot be used again.
   * Returns false, and does nothing, if there is no body, if it is short, or if only the parser finds its end.
   */
  static passBody(method: string | undefined, answer: IncomingMessage, response: ServerResponse): boolean {
    const { 'content-length': length = '', 'transfer-encoding': coding } = answer.headers
    if (method === 'HEAD' || BODILESS.has(answer.statusCode)) return false
    const reads = readsBySocket.get(answer.socket)
    const isKnown = coding === undefined && /^\d{1,15}$/.test(length)
    if (reads === undefined || !isKnown || Number(length) < MIN_DIRECT_BYTES) return false
    reads.#passBody(answer, response, Number(length))
    return true
  }

  #passBody(answer: IncomingMessage, response: ServerResponse, length: number): void {
    let left = length
    const pass = (chunk: Buffer, onWritten?: () => void) => {
      const part = chunk.subarray(0, left)
      left -= part.length
      response.write(part, onWritten)
      if (left === 0) response.end()
    }
    // The bytes that came with the head. The parser has copied them.
    answer.on('data', (chunk: Buffer) => pass(chunk))
    this.#take = (chunk) => {
      if (left === 0 || !response.writable) return true
      let isWritten = false
      let isWaiting = false
      pass(chunk, () => {
        isWritten = true
        if (isWaiting) this.#socket?.resume()
      })
      // Until the bytes are written, their memory is in use.
      isWaiting = !isWritten && response.writableLength > 0
      return !isWaiting
    }
  }
}
