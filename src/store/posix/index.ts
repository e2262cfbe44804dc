/**
 * A vault as POSIX sees it: inodes, names and bytes, with synchronous calls for a server of a kernel. It decides which
 * operation a call is; `files` applies the operation. The caller checks permissions.
 * Invariant: its state beyond the vault (open counts, counted blocks) may be lost without harm.
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
export type { PosixReads } from './posix-reads.ts'
