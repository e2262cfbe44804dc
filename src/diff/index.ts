/**
 * Changes between two trees as text: unified diffs, and patches that `git apply` takes.
 * What changed is told by the trees; here it is only put into lines.
 * Invariant: a patch of all texts that changed makes the new tree of the old one; what a patch cannot tell is told beside it.
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
