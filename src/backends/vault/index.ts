/**
 * A vault of the store as a file system. It translates between the protocol and the store's log and files, and
 * stores nothing itself.
 */
export { VaultFs } from './vault-fs.ts'
