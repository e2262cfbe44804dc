import {
  Client,
  ProtocolError,
  type RequestOptions,
  SdkError,
  SdkErrorCode,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client'
import { type KnownSecrets, raceWithAbort } from '../../kernel/index.ts'
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

/** A client that is connected, or about to be. */
interface ConnectingClient {
  readonly client: Promise<Client>
  /** Ends an attempt that nobody waits for any more. */
  readonly cancel: AbortController
  /** Callers that wait for the attempt. */
  waiting: number
}

/** A connection to one server; the next use reconnects after it was lost. */
export class McpConnection {
  readonly #spec: McpConnectionSpec
  /** Called whenever the server's tools may have changed. */
  readonly #onListChanged: () => void
  #current: ConnectingClient | undefined
  #isClosed = false

  constructor(spec: McpConnectionSpec, onListChanged: () => void) {
    this.#spec = spec
    this.#onListChanged = onListChanged
  }

  /** Connects. ETIMEDOUT or EUNAVAILABLE if the server does not answer; then nothing is left running. */
  async connect(signal?: AbortSignal): Promise<void> {
    await this.#waitForClient(this.#getCurrent(), signal)
  }

  /**
   * Runs a function with a connected client; the signal cancels. EUNAVAILABLE if the server cannot be connected or ends
   * meanwhile, ETIMEDOUT if it does not respond, EIO if it refuses. Results have the server's secrets redacted.
   */
  async use<Result>(
    signal: AbortSignal | undefined,
    work: (client: Client, options: RequestOptions) => Promise<Result>,
  ): Promise<Result> {
    const current = this.#getCurrent()
    const client = await this.#waitForClient(current, signal)
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
    const current = this.#current
    this.#current = undefined
    await (await current?.client.catch(() => undefined))?.close()
  }

  #getCurrent(): ConnectingClient {
    if (this.#isClosed) throw this.#createUnavailableError('the server is unmounted')
    if (this.#current !== undefined) return this.#current
    const cancel = new AbortController()
    const client = this.#start(() => this.#forget(current), cancel.signal)
    const current: ConnectingClient = { client, cancel, waiting: 0 }
    this.#current = current
    client.catch(() => this.#forget(current))
    return current
  }

  /** Waits for a client. The signal ends the wait of this caller; others go on to wait for the same attempt. */
  async #waitForClient(current: ConnectingClient, signal: AbortSignal | undefined): Promise<Client> {
    current.waiting++
    try {
      return await (signal === undefined ? current.client : raceWithAbort(signal, current.client))
    } finally {
      current.waiting--
      if (current.waiting === 0 && signal?.aborted === true) current.cancel.abort(signal.reason)
    }
  }

  #forget(current: ConnectingClient): void {
    if (this.#current !== current) return
    this.#current = undefined
    // The next connection may reach another server.
    this.#onListChanged()
  }

  async #start(onEnd: () => void, signal: AbortSignal): Promise<Client> {
    const { config, connectTimeoutMs, clientInfo } = this.#spec
    const timeout = config.connect_timeout_ms ?? connectTimeoutMs
    const transport = this.#createTransport()
    const client = new Client(clientInfo, {
      listChanged: { tools: { autoRefresh: false, debounceMs: 0, onChanged: this.#onListChanged } },
    })
    client.onclose = onEnd
    try {
      await client.connect(transport, { timeout, signal })
      return client
    } catch (error) {
      if (transport instanceof ChildTransport) transport.kill()
      await client.close().catch(() => {})
      signal.throwIfAborted()
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

  async #toVfsError(error: unknown, current: ConnectingClient): Promise<unknown> {
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
    await (await current.client).close().catch(() => {})
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
