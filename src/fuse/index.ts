/**
 * Vaults and any other file systems as directories of this machine: the kernel's FUSE protocol, without a native addon.
 * `protocol` is its bytes, `operations` asks a vault by inode, `paths` any file system by path, `mounting` mounts.
 * Invariant: what an answered request changed survives the end of the server; others see it some milliseconds later.
 */
export type { HomeLocation } from '../backends/vault/index.ts'
export type { FuseMount } from './fuse-mount.ts'
export { type FileSystemMountOptions, mountFileSystem } from './mount-file-system.ts'
export { mountVault } from './mount-vault.ts'
export { createFusermountCommand, DEVICE_DESCRIPTOR } from './mounting/fusermount.ts'
export { listOwnMounts } from './mounting/mount-list.ts'
export { sweepStaleMounts } from './mounting/stale-mounts.ts'
export { forceUnmount, unmount } from './mounting/unmount.ts'
export { mountInProcess, type ProcessMount } from './spawn-mount.ts'
