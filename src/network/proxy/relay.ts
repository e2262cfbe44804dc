import type { Socket } from 'node:net'
import type { UpstreamReading } from './upstream.ts'

/** Connects a client and a server. Its options are those of the server's socket. */
export interface Relay extends UpstreamReading {
  /** @param early bytes of the client that were read already. */
  open(client: Socket, server: Socket, early?: Uint8Array): void
}
