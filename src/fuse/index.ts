/**
 * Vaults as directories of this machine: the kernel's FUSE protocol, spoken without a native addon.
 * `protocol` reads and writes bytes, `operations` asks a file system by inode, `mounting` calls the programs that mount.
 * Invariant: a request is answered after what it changed is committed, but for attributes, which may wait a moment.
 */
export { mountVault } from './mount-vault.ts'
export { ourMounts, sweepStale } from './mounting/mount-list.ts'
export { abandon, unmount } from './mounting/unmount.ts'
export type { VaultMount } from './vault-mount.ts'
export type { HomePlace } from './vault-work.ts'
