/**
 * Changes between two trees as text: unified diffs, and patches that `git apply` takes.
 * The trees report the changes; this folder only formats them.
 * Invariant: a patch of all texts that changed makes the new tree of the old one; changes that a patch cannot express stand beside it.
 */
export { listFileChanges } from './file-changes.ts'
export {
  countChangedLines,
  formatModes,
  formatPatch,
  isDirectoryChange,
  readChangedText,
  type TreePair,
} from './patch.ts'
export { formatUnifiedDiff } from './unified-diff.ts'
