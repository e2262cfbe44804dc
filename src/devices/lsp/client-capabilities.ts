import type { ClientCapabilities } from 'vscode-languageserver-protocol/node'

/** What servers may assume of us: we ask, and change nothing. */
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
