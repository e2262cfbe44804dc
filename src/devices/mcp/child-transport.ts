import {
  type JSONRPCMessage,
  ReadBuffer,
  serializeMessage,
  type Transport,
} from '@modelcontextprotocol/client'
import { ChildServer, type ChildServerSpec } from '../child/index.ts'

/** Time a server may take to end by itself. */
const GRACE_MS = 1000

/** MCP over standard input and output. Unlike the SDK's transport, it ends all processes the server started. */
export class ChildTransport implements Transport {
  onclose?: () => void
  onerror?: (error: Error) => void
  onmessage?: (message: JSONRPCMessage) => void
  readonly #spec: ChildServerSpec
  readonly #buffer = new ReadBuffer()
  #server: ChildServer | undefined

  constructor(spec: ChildServerSpec) {
    this.#spec = spec
  }

  async start(): Promise<void> {
    const server = new ChildServer(this.#spec)
    this.#server = server
    server.stdout.on('data', (chunk: Buffer) => this.#receive(chunk))
    void server.ended.then(() => this.onclose?.())
    await server.started
  }

  async send(message: JSONRPCMessage): Promise<void> {
    this.#server?.stdin.write(serializeMessage(message))
  }

  async close(): Promise<void> {
    await this.#server?.close(GRACE_MS)
  }

  /** Kills the server at once. */
  kill(): void {
    this.#server?.kill()
  }

  /** Last characters of the server's standard error. */
  get stderrTail(): string {
    return this.#server?.stderrTail ?? ''
  }

  #receive(chunk: Buffer): void {
    try {
      this.#buffer.append(chunk)
    } catch (error) {
      // The message exceeds the limit.
      this.onerror?.(toError(error))
      this.kill()
      return
    }
    for (;;) {
      try {
        const message = this.#buffer.readMessage()
        if (message === null) return
        this.onmessage?.(message)
      } catch (error) {
        // Skip a malformed line: the next may be a message.
        this.onerror?.(toError(error))
      }
    }
  }
}

function toError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error))
}
