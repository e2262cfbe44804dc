/**
 * Vaults and any other file systems as directories of this machine: the kernel's FUSE protocol, without a native addon.
 * `protocol` is its bytes, `operations` asks a vault by inode, `paths` any file system by path, `mounting` mounts.
 * Invariant: what an answered request changed survives the end of the server; others see it some milliseconds later.
 */
export type { HomePlace } from '../backends/vault/index.ts'
export type { Mount } from './mount.ts'
export { type ApartMount, mountApart } from './mount-apart.ts'
export { type FileSystemMountOptions, mountFileSystem } from './mount-file-system.ts'
export { mountVault } from './mount-vault.ts'
export { DEVICE_DESCRIPTOR, fusermountCommand } from './mounting/fusermount.ts'
export { ourMounts } from './mounting/mount-list.ts'
export { sweepStale } from './mounting/stale-mounts.ts'
export { abandon, unmount } from './mounting/unmount.ts'
