/**
 * `/dev/lsp`: what language servers know about the code of a workspace: definitions, references, symbols, calls.
 * The servers are programs of this machine that a person installed; they are started when they are asked something.
 * Invariant: a server that is missing, slow, dead or idle costs an answer, never more.
 */
export { defaultServers, type LanguageServerSpec } from './language-servers.ts'
export { type LspDevice, type LspDeviceOptions, lspDevice } from './lsp-device.ts'
export type { ChangedFile, WorkspaceCheckout } from './workspace-files.ts'
