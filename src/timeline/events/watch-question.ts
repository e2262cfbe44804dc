import { statfsSync, statSync } from 'node:fs'
import type { UndoSettings } from './undo-rules.ts'

/**
 * File systems whose every change passes through this kernel, by their number in `statfs`: ext4, XFS, Btrfs, F2FS,
 * bcachefs, ZFS, tmpfs, overlayfs. Of others, such as NFS or a directory of the machine around a virtual one, the system
 * does not report what somebody else changes.
 */
const WATCHED_FILE_SYSTEMS: ReadonlySet<number> = new Set([
  0xef53, 0x58465342, 0x9123683e, 0xf2f52010, 0xca451a4e, 0x2fc12fc1, 0x01021994, 0x794c7630,
])

/** A question of a hook to the watcher of its home. */
export interface WatchQuestion {
  /** A real path. */
  readonly directory: string
  /** Device and inode of the directory. In another container, the same path may be another directory. */
  readonly identity: string
  readonly settings: UndoSettings
  /** The mark of an earlier answer. */
  readonly mark?: string | undefined
}

export interface WatchAnswer {
  /** Identifies the state of the directory now. Undefined while it is not watched. */
  readonly mark?: string
  /** True if no recorded path changed since the mark of the question. */
  readonly isUnchanged: boolean
}

/** Reports whether the system reports every change in a directory, in time for the next question. */
export function canBeWatched(directory: string): boolean {
  if (process.platform !== 'linux') return false
  try {
    return WATCHED_FILE_SYSTEMS.has(statfsSync(directory).type)
  } catch {
    // Gone, or a sandbox that refuses the question.
    return false
  }
}

/** Returns a text that differs for each directory of the system; undefined if there is none at this path. */
export function getDirectoryIdentity(directory: string): string | undefined {
  const found = statSync(directory, { throwIfNoEntry: false })
  return found && `${found.dev} ${found.ino}`
}
