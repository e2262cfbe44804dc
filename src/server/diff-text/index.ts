/**
 * Changes between two trees as text: unified diffs, and patches that `git apply` takes.
 * What changed is told by the trees; here it is only put into lines.
 * Invariant: a patch of everything that changed makes the new tree of the old one.
 */
export { fileChanges } from './file-changes.ts'
export { changedText, lineCounts, patchLines, type Trees } from './patch.ts'
export { unifiedDiff } from './unified-diff.ts'
