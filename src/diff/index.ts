/**
 * Changes between two trees as text: unified diffs, patches for `git apply`, and the questions of `apply -p` with the
 * selection of their answers. The trees report the changes. Invariant: the complete patches of all changes turn the old
 * tree into the new one. Changes that a patch cannot express are printed beside it.
 */
export { formatCompletePatch, readCompletePatch } from './complete-patch.ts'
export { listFileChanges } from './file-changes.ts'
export { applyHunk, type Hunk, listHunks, splitLines } from './hunks.ts'
export { countChangedLines, formatPatch, readChangedText, type TreePair } from './patch.ts'
export { formatModes, isDirectoryChange, isRefusedByGit } from './patch-header.ts'
export {
  createQuestion,
  formatPickedHunk,
  listQuestions,
  type PickedQuestion,
  type PickedSelection,
  toSelection,
} from './picked-changes.ts'
export { formatUnifiedDiff } from './unified-diff.ts'
