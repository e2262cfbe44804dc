import {
  DidChangeTextDocumentNotification,
  DidCloseTextDocumentNotification,
  DidOpenTextDocumentNotification,
  type ProtocolConnection,
} from 'vscode-languageserver-protocol/node'

/** More than these are not held open at once. */
const MAX_DOCUMENTS = 100

/** A document as it is now. */
export interface OpenDocument {
  readonly uri: string
  readonly languageId: string
  readonly text: string
}

/** The documents a server knows from us and not from their files; those shown last. */
export class OpenDocuments {
  readonly #connection: ProtocolConnection
  readonly #documents = new Map<string, { readonly version: number; readonly text: string }>()

  constructor(connection: ProtocolConnection) {
    this.#connection = connection
  }

  /** Lets the server know what is in a document now. */
  async show({ uri, languageId, text }: OpenDocument): Promise<void> {
    const known = this.#documents.get(uri)
    if (known?.text === text) return
    const version = (known?.version ?? 0) + 1
    this.#documents.delete(uri)
    this.#documents.set(uri, { version, text })
    if (known === undefined) {
      const textDocument = { uri, languageId, version, text }
      await this.#connection.sendNotification(DidOpenTextDocumentNotification.type, { textDocument })
    } else {
      const change = { textDocument: { uri, version }, contentChanges: [{ text }] }
      await this.#connection.sendNotification(DidChangeTextDocumentNotification.type, change)
    }
    const [oldest] = this.#documents.keys()
    if (this.#documents.size > MAX_DOCUMENTS && oldest !== undefined) await this.forget(oldest)
  }

  /** Has the server know a document from its file again, if there is one. */
  async forget(uri: string): Promise<void> {
    if (!this.#documents.delete(uri)) return
    const textDocument = { uri }
    await this.#connection.sendNotification(DidCloseTextDocumentNotification.type, { textDocument })
  }
}
