/**
 * A vault as POSIX sees it: inodes, names and bytes, each call done when it returns, for whoever serves a kernel.
 * It decides which operation a call is and leaves applying it to `files`; permissions are the caller's to check.
 * Invariant: what it holds beyond the vault (who has what open, counted blocks) may be lost without harm.
 */

export { planSize, planWrite, type XattrMode } from './plan-content.ts'
export { getJournalPath, type RenameMode } from './plan-entries.ts'
export {
  type CreationAttributes,
  type PosixAttributeChanges,
  type PosixAttributes,
  planAttributes,
  type StatfsReport,
} from './posix-attributes.ts'
export { PosixFiles, type PosixOptions } from './posix-files.ts'
