/**
 * A vault of the store as a file system, and the home that makes, opens and forks vaults. It translates between the
 * protocol and the store's log and files, and stores nothing itself.
 */
export { Home, type HomeOptions, openHome } from './home.ts'
export { type CheckpointInfo, Vault } from './vault.ts'
export { VaultFs } from './vault-fs.ts'
