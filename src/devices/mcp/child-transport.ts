import { ReadBuffer, serializeMessage } from '@modelcontextprotocol/sdk/shared/stdio.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js'
import { ChildServer, type ChildServerSpec } from '../child/index.ts'

/** How long a server may take to end by itself. */
const GRACE_MS = 1000

/** MCP over standard input and output. Unlike the SDK's own, it ends all that the server started. */
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

  /** Ends the server without asking it to. */
  kill(): void {
    this.#server?.kill()
  }

  /** What the server said last on its standard error. */
  get stderrTail(): string {
    return this.#server?.stderrTail ?? ''
  }

  #receive(chunk: Buffer): void {
    try {
      this.#buffer.append(chunk)
    } catch (error) {
      // A message without an end.
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
        // A line that is no message: the next may be one.
        this.onerror?.(toError(error))
      }
    }
  }
}

function toError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error))
}
