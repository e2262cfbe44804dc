import {
  DidChangeTextDocumentNotification,
  DidCloseTextDocumentNotification,
  DidOpenTextDocumentNotification,
  type ProtocolConnection,
} from 'vscode-languageserver-protocol/node'

/** Limit of documents open at once. */
const MAX_DOCUMENTS = 100

/** A document with its current text. */
export interface OpenDocument {
  readonly uri: string
  readonly languageId: string
  readonly text: string
}

/** The documents open on a server, in the order in which their current texts were sent. */
export class OpenDocuments {
  readonly #connection: ProtocolConnection
  readonly #documents = new Map<string, { readonly version: number; readonly text: string }>()

  constructor(connection: ProtocolConnection) {
    this.#connection = connection
  }

  /** Sends the text of a document if it has changed; closes the one unchanged for longest beyond the limit. */
  async show({ uri, languageId, text }: OpenDocument): Promise<void> {
    const sent = this.#documents.get(uri)
    if (sent?.text === text) return
    const version = (sent?.version ?? 0) + 1
    this.#documents.delete(uri)
    this.#documents.set(uri, { version, text })
    if (sent === undefined) {
      const textDocument = { uri, languageId, version, text }
      await this.#connection.sendNotification(DidOpenTextDocumentNotification.type, { textDocument })
    } else {
      const change = { textDocument: { uri, version }, contentChanges: [{ text }] }
      await this.#connection.sendNotification(DidChangeTextDocumentNotification.type, change)
    }
    const [oldest] = this.#documents.keys()
    if (this.#documents.size > MAX_DOCUMENTS && oldest !== undefined) await this.forget(oldest)
  }

  /** Closes a document, so that the server reads its file again. */
  async forget(uri: string): Promise<void> {
    if (!this.#documents.delete(uri)) return
    const textDocument = { uri }
    await this.#connection.sendNotification(DidCloseTextDocumentNotification.type, { textDocument })
  }
}
