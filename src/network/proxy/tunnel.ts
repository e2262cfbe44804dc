import type { OnReadOpts, Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { closeTogether } from '../close-together.ts'
import { LargeReads } from './large-reads.ts'

/**
 * Connects a client and a server: what one sends, the other receives. The end of one direction leaves the other open.
 * An error or the close of either closes both.
 */
export class Tunnel {
  /** Options of the server's socket, which has to be paused until the tunnel opens. */
  readonly onread: OnReadOpts = new LargeReads((chunk) => this.#forward(chunk)).onread
  #client: Duplex | undefined
  #server: Socket | undefined
  #isWaiting = false

  /** @param early bytes of the client that were read already. */
  open(client: Duplex, server: Socket, early?: Uint8Array): void {
    this.#client = client
    this.#server = server
    if (early !== undefined && early.length > 0) server.write(early)
    client.pipe(server)
    server.once('end', () => client.end())
    closeTogether(client, server)
    server.resume()
  }

  /** Passes bytes on. Returns false to stop reading: until they are written, their memory is in use. */
  #forward(chunk: Uint8Array): boolean {
    const client = this.#client
    if (client === undefined || !client.writable) return true
    client.write(chunk, () => this.#resumeServer())
    this.#isWaiting = client.writableLength > 0
    return !this.#isWaiting
  }

  #resumeServer(): void {
    if (!this.#isWaiting) return
    this.#isWaiting = false
    this.#server?.resume()
  }
}
