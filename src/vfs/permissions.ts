import type { FileType, Stat } from './file-system.ts'

const PERMISSION_BITS = 0o7777
/** Where permissions mean nothing, everybody may read and the owner may change. */
const DEFAULT_PERMISSIONS: Readonly<Record<FileType, number>> = {
  file: 0o644,
  directory: 0o755,
  symlink: 0o777,
  other: 0o644,
}

/** The permissions something is said to have, to whoever must be told some. */
export function getPermissions({ type, mode }: Pick<Stat, 'type' | 'mode'>): number {
  return (mode ?? DEFAULT_PERMISSIONS[type]) & PERMISSION_BITS
}
