import type { ClientCapabilities } from 'vscode-languageserver-protocol/node'

/** Capabilities announced to servers: queries, and no changes of files. */
export const clientCapabilities: ClientCapabilities = {
  textDocument: {
    synchronization: {},
    definition: {},
    implementation: {},
    references: {},
    hover: { contentFormat: ['markdown', 'plaintext'] },
    documentSymbol: { hierarchicalDocumentSymbolSupport: true },
    callHierarchy: {},
  },
  workspace: { symbol: {}, configuration: true, workspaceFolders: true, didChangeWatchedFiles: {} },
}
