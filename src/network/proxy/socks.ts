import type { Socket } from 'node:net'
import { type NetworkTarget, normalizeHost } from '../host-name.ts'
import type { Relay } from './relay.ts'
import { openUpstream, type UpstreamContext } from './upstream.ts'

/** First byte of a client that speaks SOCKS 5. */
export const SOCKS_VERSION = 5
const NO_AUTHENTICATION = 0
const NO_METHOD = 0xff
const CONNECT = 1
const ADDRESS = { ipv4: 1, name: 3, ipv6: 4 } as const
/** Replies of RFC 1928. */
const REPLY = {
  succeeded: 0,
  failure: 1,
  notAllowed: 2,
  unreachable: 4,
  unknownCommand: 7,
  unknownAddress: 8,
} as const
const HANDSHAKE_TIMEOUT_MS = 30_000

/** Context of the connections of one command. */
interface SocksContext extends UpstreamContext {
  /** Creates what connects a client and a target. */
  readonly createRelay: (target: NetworkTarget) => Relay
}

/**
 * Serves a client of SOCKS 5: connections to names and addresses, without authentication. No BIND, no UDP. Never
 * rejects.
 */
export async function serveSocks(socket: Socket, context: SocksContext): Promise<void> {
  const timer = setTimeout(() => socket.destroy(), HANDSHAKE_TIMEOUT_MS)
  try {
    const reader = new SocketReader(socket)
    const openRelay = await negotiate(socket, reader, context)
    // Not put back: the client may have ended its side already.
    openRelay?.(reader.buffered)
  } catch {
    // The client left, or sent less than it announced.
    socket.destroy()
  } finally {
    clearTimeout(timer)
  }
}

/** Answers the handshake. Returns the function that connects the two sides; undefined if the client got an error. */
async function negotiate(
  socket: Socket,
  reader: SocketReader,
  context: SocksContext,
): Promise<((early: Uint8Array) => void) | undefined> {
  const [, methodCount = 0] = await reader.read(2)
  const methods = await reader.read(methodCount)
  if (!methods.includes(NO_AUTHENTICATION)) {
    socket.end(Buffer.from([SOCKS_VERSION, NO_METHOD]))
    return undefined
  }
  socket.write(Buffer.from([SOCKS_VERSION, NO_AUTHENTICATION]))
  const [version, command] = await reader.read(3)
  if (version !== SOCKS_VERSION) {
    socket.destroy()
    return undefined
  }
  const target = await readTarget(reader)
  if (command !== CONNECT) return reply(REPLY.unknownCommand)
  if (target === undefined) return reply(REPLY.unknownAddress)
  const relay = context.createRelay(target)
  const result = await openUpstream(target, context, relay)
  if ('problem' in result)
    return reply(result.problem.decision === 'refused' ? REPLY.notAllowed : REPLY.unreachable)
  if (socket.destroyed) result.socket.destroy()
  socket.write(formatReply(REPLY.succeeded))
  return (early) => relay.open(socket, result.socket, early)

  function reply(code: number): undefined {
    socket.end(formatReply(code))
    return undefined
  }
}

/** Reads an address and a port. Undefined for a name that is none. */
async function readTarget(reader: SocketReader): Promise<NetworkTarget | undefined> {
  const [type] = await reader.read(1)
  const text = await readHost(reader, type)
  const port = (await reader.read(2)).readUInt16BE()
  const host = text === undefined ? undefined : normalizeHost(text)
  return host === undefined || port === 0 ? undefined : { host, port }
}

async function readHost(reader: SocketReader, type: number | undefined): Promise<string | undefined> {
  switch (type) {
    case ADDRESS.ipv4:
      return [...(await reader.read(4))].join('.')
    case ADDRESS.name: {
      const [length = 0] = await reader.read(1)
      return (await reader.read(length)).toString('latin1')
    }
    case ADDRESS.ipv6: {
      const hex = (await reader.read(16)).toString('hex')
      return hex.match(/.{4}/g)?.join(':')
    }
    default:
      return undefined
  }
}

/** Formats a reply. The address that it names is of no use to a client, so it is empty. */
function formatReply(code: number): Buffer {
  return Buffer.from([SOCKS_VERSION, code, 0, ADDRESS.ipv4, 0, 0, 0, 0, 0, 0])
}

/** Reads exact numbers of bytes from a socket. */
class SocketReader {
  readonly #socket: Socket
  #buffered: Buffer = Buffer.alloc(0)

  constructor(socket: Socket) {
    this.#socket = socket
  }

  /** Reads `count` bytes. Throws if the socket ends before. */
  async read(count: number): Promise<Buffer> {
    while (this.#buffered.length < count) {
      const chunk: unknown = this.#socket.read()
      if (chunk instanceof Buffer) this.#buffered = Buffer.concat([this.#buffered, chunk])
      else if (this.#socket.readableEnded || this.#socket.destroyed) throw new Error('the client left')
      else await this.#waitForBytes()
    }
    const taken = this.#buffered.subarray(0, count)
    this.#buffered = this.#buffered.subarray(count)
    return taken
  }

  /** Resolves when there is something to read, or never will be. */
  #waitForBytes(): Promise<void> {
    const events = ['readable', 'end', 'close'] as const
    return new Promise((resolve) => {
      const finish = () => {
        for (const event of events) this.#socket.off(event, finish)
        resolve()
      }
      for (const event of events) this.#socket.once(event, finish)
    })
  }

  /** Bytes that arrived and were not read. */
  get buffered(): Uint8Array {
    return this.#buffered
  }
}
