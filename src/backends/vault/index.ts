/**
 * A vault of the store as a file system, and the home that makes, opens and forks vaults. It translates between the
 * protocol and the store's log and files, and stores nothing itself.
 */
export { Home, type HomeOptions, type MergeOptions, openHome } from './home.ts'
export { type CheckpointInfo, type JournalFilter, type JournalRecord, Vault } from './vault.ts'
export { VaultFs } from './vault-fs.ts'
