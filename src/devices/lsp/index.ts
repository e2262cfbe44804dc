/**
 * `/dev/lsp`: definitions, references, symbols and calls from language servers for the code of a workspace.
 * The servers are local programs that a person installed; the first query starts them.
 * Invariant: a server that is missing, slow, dead or idle costs one response, never more.
 */
export { defaultServers, type LanguageServerSpec } from './language-servers.ts'
export { type LspDevice, type LspDeviceOptions, lspDevice } from './lsp-device.ts'
export type { ChangedFile, WorkspaceCheckout } from './workspace-files.ts'
