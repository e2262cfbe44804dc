/**
 * Files of git repositories as paths and bytes: the part of a repository that a path below `.git` belongs to, and the
 * commits and branches in a list of changes. It never starts git and reads no repository of its own; `backends/git`
 * does. Invariant: only what git keeps by itself is summarised; hooks and settings stay in every list.
 */
export { describeGitSummary } from './describe-git-summary.ts'
export { type IndexEntry, isSameStaging, readIndex } from './git-index.ts'
export { isGitDirectory, isKeptByGit, isOverlapPath, parseGitPath } from './git-path.ts'
export {
  type GitSummary,
  isChangeOfGit,
  isHeadMove,
  type RefChange,
  type SeparatedChanges,
  separateGitChanges,
  summarizeGit,
} from './git-summary.ts'
export {
  findPackedRefsPath,
  MAX_PACKED_BYTES,
  parsePackedRefs,
  removePackedRefs,
  toLooseRefPath,
} from './packed-refs.ts'
export { parseCheckedOut, parseCommitId } from './parse-ref.ts'
export { type FileContents, findRefMoves, isRefPath, listRefFiles, type RefMove } from './ref-moves.ts'
export { MAX_COMMIT_BYTES, walkCommits } from './walk-commits.ts'
