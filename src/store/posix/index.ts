/**
 * A vault as POSIX sees it: inodes, names and bytes, each call done when it returns, for whoever serves a kernel.
 * It decides which operation a call is and leaves applying it to `files`; permissions are the caller's to check.
 * Invariant: what it holds beyond the vault (who has what open, counted blocks) may be lost without harm.
 */
export {
  type AttributeChanges,
  type Attributes,
  type Owner,
  planAttributes,
  type SpaceReport,
} from './attributes.ts'
export { planSize, planWrite, type XattrMode } from './contents.ts'
export { placeInJournal, type RenameMode } from './entries.ts'
export { PosixFiles, type PosixOptions } from './posix-files.ts'
