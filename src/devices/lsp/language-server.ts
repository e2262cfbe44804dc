import { pathToFileURL } from 'node:url'
import {
  CancellationTokenSource,
  ConfigurationRequest,
  createProtocolConnection,
  DidChangeWatchedFilesNotification,
  ErrorCodes,
  type FileEvent,
  InitializedNotification,
  InitializeRequest,
  type ProtocolConnection,
  type ProtocolRequestType,
  RegistrationRequest,
  ResponseError,
  StreamMessageReader,
  StreamMessageWriter,
  WorkDoneProgressCreateRequest,
} from 'vscode-languageserver-protocol/node'
import { VfsError } from '../../vfs/index.ts'
import { ChildServer } from '../child/index.ts'
import { clientCapabilities } from './client-capabilities.ts'
import type { LanguageServerSpec } from './language-servers.ts'
import { type OpenDocument, OpenDocuments } from './open-documents.ts'
import type { WorkspaceCheckout } from './workspace-files.ts'

/** Time a server may take to end by itself. */
const GRACE_MS = 500
/** Error codes of the connection itself, as opposed to responses of the server. */
const CONNECTION_ERRORS: readonly number[] = [
  ErrorCodes.MessageWriteError,
  ErrorCodes.MessageReadError,
  ErrorCodes.PendingResponseRejected,
  ErrorCodes.ConnectionInactive,
]

export interface LanguageServerOptions {
  readonly spec: LanguageServerSpec
  readonly checkout: WorkspaceCheckout
  /** The complete environment of the server. */
  readonly env: Readonly<Record<string, string | undefined>>
}

/** A language server for one directory. */
export class LanguageServer {
  /** Fulfilled once the process has ended. */
  readonly ended: Promise<void>
  /** Version of the directory of which the server was notified. */
  notifiedVersion: number
  readonly #spec: LanguageServerSpec
  readonly #child: ChildServer
  readonly #connection: ProtocolConnection
  readonly #documents: OpenDocuments
  readonly #ready: Promise<void>
  /** Functions that reject the pending requests, called when the server ends. */
  readonly #rejectPending = new Set<(error: unknown) => void>()
  #isReady = false
  #isGone = false

  constructor({ spec, checkout: { directory, wrapCommand, changes }, env }: LanguageServerOptions) {
    this.#spec = spec
    this.notifiedVersion = changes?.version ?? 0
    const [command = spec.command, ...args] = wrapCommand([spec.command, ...spec.args])
    this.#child = new ChildServer({ command, args, env, cwd: directory })
    this.#connection = createProtocolConnection(
      new StreamMessageReader(this.#child.stdout),
      new StreamMessageWriter(this.#child.stdin),
    )
    this.#documents = new OpenDocuments(this.#connection)
    this.ended = this.#child.ended.then(async () => {
      this.#isGone = true
      this.#connection.dispose()
      const end = this.#child.started.then(() => this.#createGoneError('it ended'))
      const reason = await end.catch((error: unknown) => this.#toServerError(error))
      for (const reject of this.#rejectPending) reject(reason)
    })
    this.#ready = this.#initialize(directory)
    // The next request reports the failure.
    this.#ready.catch(() => {})
  }

  get isGone(): boolean {
    return this.#isGone
  }

  /** Sends a request; the signal cancels. EUNAVAILABLE if the server cannot start or ends, EIO if it refuses. */
  async ask<Params, Result, Partial, Registration>(
    type: ProtocolRequestType<Params, Result, Partial, void, Registration>,
    params: Params,
    signal: AbortSignal,
  ): Promise<Result> {
    return this.#runUntilAborted(signal, async () => {
      await this.#ready
      const cancel = new CancellationTokenSource()
      signal.addEventListener('abort', () => cancel.cancel(), { once: true })
      return this.#connection.sendRequest<Result>(type.method, params, cancel.token)
    })
  }

  /** Sends the current text of a document. */
  async show(document: OpenDocument, signal: AbortSignal): Promise<void> {
    await this.#runUntilAborted(signal, () => this.#ready)
    await this.#documents.show(document)
  }

  /** Notifies the server of changed files, which it reads itself. */
  async notifyChanged(changes: FileEvent[], signal: AbortSignal): Promise<void> {
    await this.#runUntilAborted(signal, () => this.#ready)
    await this.#connection.sendNotification(DidChangeWatchedFilesNotification.type, { changes })
  }

  /** Closes a document, so that the server reads its file again. */
  async forget(uri: string, signal: AbortSignal): Promise<void> {
    await this.#runUntilAborted(signal, () => this.#ready)
    await this.#documents.forget(uri)
  }

  async close(): Promise<void> {
    await this.#child.close(GRACE_MS)
  }

  async #initialize(directory: string): Promise<void> {
    await this.#child.started
    const uri = pathToFileURL(directory).href
    this.#connection.onRequest(ConfigurationRequest.type, ({ items }) => items.map(() => null))
    this.#connection.onRequest(RegistrationRequest.type, () => {})
    this.#connection.onRequest(WorkDoneProgressCreateRequest.type, () => {})
    // Unreadable output ends the connection, which reports it.
    this.#connection.onError(() => {})
    this.#connection.listen()
    await this.#connection.sendRequest(InitializeRequest.type, {
      processId: null,
      rootUri: uri,
      workspaceFolders: [{ uri, name: 'workspace' }],
      capabilities: clientCapabilities,
      initializationOptions: this.#spec.initializationOptions,
    })
    await this.#connection.sendNotification(InitializedNotification.type, {})
    this.#isReady = true
  }

  /** Waits for work until the signal aborts or the server ends. Converts its errors. */
  async #runUntilAborted<Result>(signal: AbortSignal, work: () => Promise<Result>): Promise<Result> {
    signal.throwIfAborted()
    const { promise: interruption, reject } = Promise.withResolvers<never>()
    const stop = () => reject(signal.reason)
    signal.addEventListener('abort', stop)
    this.#rejectPending.add(reject)
    try {
      return await Promise.race([interruption, this.#withServerErrors(work())])
    } finally {
      signal.removeEventListener('abort', stop)
      this.#rejectPending.delete(reject)
    }
  }

  async #withServerErrors<Result>(work: Promise<Result>): Promise<Result> {
    try {
      return await work
    } catch (error) {
      throw await this.#toServerError(error)
    }
  }

  /**
   * Converts an error. If it is no response of the server, ends the server: the next use starts another, and the
   * message has the end of its standard error.
   */
  async #toServerError(error: unknown): Promise<VfsError> {
    const reason = error instanceof Error ? error.message : String(error)
    if (error instanceof ResponseError && !CONNECTION_ERRORS.includes(error.code)) {
      return new VfsError('EIO', this.#spec.name, { op: 'lsp', detail: `it refused: ${reason}` })
    }
    await this.#child.close(GRACE_MS)
    return this.#createGoneError(reason)
  }

  #createGoneError(reason: string): VfsError {
    const { name, command, install } = this.#spec
    const stderrTail = this.#child.stderrTail
    const words = stderrTail === '' ? reason : `${reason}: ${stderrTail}`
    const detail = this.#isReady
      ? `the language server has ended (${words}); the next use restarts it`
      : `'${command}' does not start (${words}); install it: ${install}`
    return new VfsError('EUNAVAILABLE', name, { op: 'lsp', detail })
  }
}
