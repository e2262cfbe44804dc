/**
 * Changes between two trees as text: unified diffs, patches for `git apply`, and the questions of `apply -p` with the
 * selection of their answers. The trees report the changes. Invariant: a patch of all changed texts turns the old tree
 * into the new one. Changes that a patch cannot express are printed beside it.
 */
export { listFileChanges } from './file-changes.ts'
export { applyHunk, type Hunk, listHunks, splitLines } from './hunks.ts'
export {
  countChangedLines,
  formatModes,
  formatPatch,
  isDirectoryChange,
  readChangedText,
  type TreePair,
} from './patch.ts'
export {
  createQuestion,
  formatPickedHunk,
  listQuestions,
  type PickedQuestion,
  type PickedSelection,
  toSelection,
} from './picked-changes.ts'
export { formatUnifiedDiff } from './unified-diff.ts'
