import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { createConnection, createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const SOCKET = '.s.PGSQL.5432'
const READY_FOR_QUERY = 'Z'
const SYNC = 'S'

/**
 * When the connection breaks: before the server gets a statement; once it has it; when it has answered, before the
 * answer arrives. Or the server gets the statement only after the client has come back. Or the connection stays, and no
 * answer ever arrives.
 */
export type Fault = 'before' | 'during' | 'after' | 'late' | 'silent'

/** Faults that break the connection. */
export const faults: readonly Fault[] = ['before', 'during', 'after', 'late']

/** A network between clients and a PostgreSQL that breaks connections at chosen statements. */
export class FaultProxy {
  readonly directory: string = mkdtempSync(join(tmpdir(), 'coppice-proxy-'))
  /** Called for each statement; returns what becomes of its connection. */
  next: () => Fault | undefined = () => undefined
  readonly #server: Server
  readonly #target: string
  readonly #sockets = new Set<Socket>()
  /** Sends statements that are on the way when the connection broke. */
  readonly #late: (() => void)[] = []

  private constructor(directory: string) {
    this.#target = join(directory, SOCKET)
    this.#server = createServer((client) => this.#connect(client))
  }

  static async start(directory: string): Promise<FaultProxy> {
    const proxy = new FaultProxy(directory)
    chmodSync(proxy.directory, 0o755)
    await new Promise<void>((resolve) => proxy.#server.listen(join(proxy.directory, SOCKET), resolve))
    return proxy
  }

  /** Delivers what was held back. */
  deliverLate(): void {
    for (const deliver of this.#late.splice(0)) deliver()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    await new Promise((resolve) => this.#server.close(resolve))
    rmSync(this.directory, { recursive: true, force: true })
  }

  #connect(client: Socket): void {
    const server = createConnection(this.#target)
    let fault: Fault | undefined
    let answer: Buffer = Buffer.alloc(0)
    for (const socket of [client, server]) {
      this.#sockets.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => this.#sockets.delete(socket))
    }
    server.on('close', () => client.destroy())
    client.on('close', () => {
      // What the server got, it does; what is held back, it gets later.
      if (fault !== 'late') server.end()
    })
    server.on('data', (data) => {
      if (fault === 'silent') return
      if (fault !== 'after') return void client.write(data)
      answer = Buffer.concat([answer, data])
      // Its last message: a type, a length of five, a state.
      if (String.fromCharCode(answer.at(-6) ?? 0) === READY_FOR_QUERY) client.destroy()
    })
    client.on('data', (data) => {
      if (fault !== undefined) return
      if (endsStatement(data)) fault = this.next()
      if (fault === 'before') client.destroy()
      else if (fault === 'late') this.#hold(client, server, data)
      else server.write(data, () => fault === 'during' && client.destroy())
    })
  }

  #hold(client: Socket, server: Socket, data: Buffer): void {
    this.#late.push(() => {
      server.write(data)
      server.end()
    })
    client.destroy()
  }
}

/** The client sends a statement as one piece, which ends with a message of a type and a length of four. */
function endsStatement(data: Buffer): boolean {
  return (
    data.length > 5 &&
    String.fromCharCode(data.at(-5) ?? 0) === SYNC &&
    data.readInt32BE(data.length - 4) === 4
  )
}
