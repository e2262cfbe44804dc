import {
  Client,
  ProtocolError,
  type RequestOptions,
  SdkError,
  SdkErrorCode,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client'
import type { KnownSecrets } from '../../kernel/index.ts'
import { VfsError } from '../../vfs/index.ts'
import { fetchBounded } from './bounded-fetch.ts'
import { ChildTransport } from './child-transport.ts'
import type { ServerConfig } from './server-config.ts'

const DEFAULT_CALL_TIMEOUT_MS = 60_000

export interface McpConnectionSpec {
  /** Mount point of the server, for messages. */
  readonly path: string
  readonly config: ServerConfig
  readonly connectTimeoutMs: number
  /** Base environment of servers that are programs. */
  readonly env: Readonly<Record<string, string | undefined>>
  /** Secrets of the configuration, redacted from all output of the server. */
  readonly secrets: KnownSecrets
  readonly clientInfo: { readonly name: string; readonly version: string }
}

/** A connection to one server; the next use reconnects after it was lost. */
export class McpConnection {
  readonly #spec: McpConnectionSpec
  /** Called whenever the server's tools may have changed. */
  readonly #onListChanged: () => void
  #client: Promise<Client> | undefined
  #isClosed = false

  constructor(spec: McpConnectionSpec, onListChanged: () => void) {
    this.#spec = spec
    this.#onListChanged = onListChanged
  }

  /** Connects. ETIMEDOUT or EUNAVAILABLE if the server does not answer; then nothing is left running. */
  async connect(signal?: AbortSignal): Promise<void> {
    await this.#getClient(signal)
  }

  /**
   * Runs a function with a connected client; the signal cancels. EUNAVAILABLE if the server cannot be connected or ends
   * meanwhile, ETIMEDOUT if it does not respond, EIO if it refuses. Results have the server's secrets redacted.
   */
  async use<Result>(
    signal: AbortSignal | undefined,
    work: (client: Client, options: RequestOptions) => Promise<Result>,
  ): Promise<Result> {
    const current = this.#getClient(signal)
    const client = await current
    try {
      const timeout = this.#spec.config.timeout_ms ?? DEFAULT_CALL_TIMEOUT_MS
      const result = await work(client, { timeout, ...(signal !== undefined && { signal }) })
      return this.#spec.secrets.redactValue(result)
    } catch (error) {
      signal?.throwIfAborted()
      throw await this.#toVfsError(error, current)
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true
    const client = this.#client
    this.#client = undefined
    await (await client?.catch(() => undefined))?.close()
  }

  #getClient(signal?: AbortSignal): Promise<Client> {
    if (this.#isClosed) throw this.#createUnavailableError('the server is unmounted')
    if (this.#client !== undefined) return this.#client
    const starting = this.#start(() => this.#forget(starting), signal)
    this.#client = starting
    starting.catch(() => this.#forget(starting))
    return starting
  }

  #forget(client: Promise<Client>): void {
    if (this.#client !== client) return
    this.#client = undefined
    // The next connection may reach another server.
    this.#onListChanged()
  }

  async #start(onEnd: () => void, signal?: AbortSignal): Promise<Client> {
    const { config, connectTimeoutMs, clientInfo } = this.#spec
    const timeout = config.connect_timeout_ms ?? connectTimeoutMs
    const transport = this.#createTransport()
    const client = new Client(clientInfo, {
      listChanged: { tools: { autoRefresh: false, debounceMs: 0, onChanged: this.#onListChanged } },
    })
    client.onclose = onEnd
    try {
      await client.connect(transport, { timeout, ...(signal !== undefined && { signal }) })
      return client
    } catch (error) {
      if (transport instanceof ChildTransport) transport.kill()
      await client.close().catch(() => {})
      signal?.throwIfAborted()
      throw this.#createConnectError(
        error,
        timeout,
        transport instanceof ChildTransport ? transport.stderrTail : '',
      )
    }
  }

  #createTransport(): ChildTransport | StreamableHTTPClientTransport {
    const { config, env, secrets } = this.#spec
    if ('url' in config) {
      return new StreamableHTTPClientTransport(new URL(config.url), {
        requestInit: { headers: config.headers },
        fetch: fetchBounded,
      })
    }
    const hide = (text: string) => secrets.redactTruncated(text)
    return new ChildTransport({ ...config, env: { ...env, ...config.env }, hide })
  }

  async #toVfsError(error: unknown, current: Promise<Client>): Promise<unknown> {
    if (error instanceof VfsError) return error
    const { path } = this.#spec
    const { reason, cause } = this.#redactError(error)
    if (isTimeout(error)) {
      const detail = 'the server did not answer in time; ask for less, or raise timeout_ms'
      return new VfsError('ETIMEDOUT', path, { op: 'call', detail })
    }
    if (cause !== undefined) {
      return new VfsError('EIO', path, { op: 'call', detail: `the server refused: ${reason}`, cause })
    }
    // The state of this connection is unknown; the next use opens another.
    this.#forget(current)
    await (await current).close().catch(() => {})
    return this.#createUnavailableError(`the server has ended (${reason}); the next use restarts it`)
  }

  #createConnectError(error: unknown, timeout: number, stderrTail: string): VfsError {
    const stderrNote = stderrTail === '' ? '' : `; it said: ${stderrTail}`
    if (isTimeout(error)) {
      const detail = `the server did not answer within ${timeout} ms; raise connect_timeout_ms${stderrNote}`
      return new VfsError('ETIMEDOUT', this.#spec.path, { op: 'mount', detail })
    }
    const { reason } = this.#redactError(error)
    return this.#createUnavailableError(
      `the server cannot be reached (${reason}); check its command or url${stderrNote}`,
    )
  }

  /** Redacts an error: servers repeat their input, and an invalid header is reported with its value. */
  #redactError(error: unknown): { readonly reason: string; readonly cause: ProtocolError | undefined } {
    const reason = this.#spec.secrets.redact(error instanceof Error ? error.message : String(error))
    return {
      reason,
      cause: error instanceof ProtocolError ? new ProtocolError(error.code, reason) : undefined,
    }
  }

  #createUnavailableError(detail: string): VfsError {
    return new VfsError('EUNAVAILABLE', this.#spec.path, { op: 'mcp', detail })
  }
}

function isTimeout(error: unknown): boolean {
  return error instanceof SdkError && error.code === SdkErrorCode.RequestTimeout
}
