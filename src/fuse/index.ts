/**
 * Mounts vaults and other file systems in directories, through the FUSE protocol without a native addon. `protocol`
 * encodes; `operations` serves vaults by inode, `paths` any file system by path; `mounting` mounts. Invariant of a mounted
 * vault: changes of an answered request survive the end of the server; others see them some milliseconds later.
 */
export type { HomeLocation } from '../backends/vault/index.ts'
export type { FuseMount } from './fuse-mount.ts'
export { type FileSystemMountOptions, mountFileSystem } from './mount-file-system.ts'
export { mountVault } from './mount-vault.ts'
export { createFusermountCommand, DEVICE_DESCRIPTOR } from './mounting/fusermount.ts'
export { listCoppiceMounts, listFuseMounts } from './mounting/mount-list.ts'
export { sweepStaleMounts } from './mounting/stale-mounts.ts'
export { forceUnmount, unmount } from './mounting/unmount.ts'
export { mountInProcess, type ProcessMount } from './spawn-mount.ts'
