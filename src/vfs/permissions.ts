import type { FileType, Stat } from './file-system.ts'

const ALL = 0o7777
/** Where permissions mean nothing, everybody may read and the owner may change. */
const usual: Readonly<Record<FileType, number>> = {
  file: 0o644,
  directory: 0o755,
  symlink: 0o777,
  other: 0o644,
}

/** The permissions something is said to have, to whoever must be told some. */
export function permissionsOf({ type, mode }: Pick<Stat, 'type' | 'mode'>): number {
  return (mode ?? usual[type]) & ALL
}
