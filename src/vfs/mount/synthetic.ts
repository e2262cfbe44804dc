import type { Stat } from '../file-system.ts'

/** What is told of a directory that exists because a mount point is below it. */
export function syntheticStat(): Stat {
  return { type: 'directory', size: 0, mtime: new Date(0), mode: 0o555 }
}
