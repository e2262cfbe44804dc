import type { FileType, Stat } from './file-system.ts'

const PERMISSION_BITS = 0o7777
/** Default for file systems without permissions: all may read, the owner may write. */
const DEFAULT_PERMISSIONS: Readonly<Record<FileType, number>> = {
  file: 0o644,
  directory: 0o755,
  symlink: 0o777,
  other: 0o644,
}

/** Returns the permission bits of a stat, or a default if the file system has none. */
export function getPermissions({ type, mode }: Pick<Stat, 'type' | 'mode'>): number {
  return (mode ?? DEFAULT_PERMISSIONS[type]) & PERMISSION_BITS
}
