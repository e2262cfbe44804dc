/**
 * A Git repository at a commit as a file system, read by the Git of this machine or by isomorphic-git. Also
 * transfers histories between repositories and vaults, and writes changes of a directory as a commit. A file system of a
 * repository never writes to it.
 * Invariant: it uses no program, hook or address from a repository's own configuration.
 */
export type { Commit } from './commit-object.ts'
export type { GitFs, Submodule } from './git-fs.ts'
export { type CommitChangesReport, commitChanges } from './history/commit-changes.ts'
export { exportGit, type GitExportOptions, type GitExportReport } from './history/export-git.ts'
export type { CopiedCommits } from './history/fetch-commits.ts'
export type { BaseFile } from './history/find-base.ts'
export { type GitImportOptions, type GitImportReport, importGit } from './history/import-git.ts'
export type { RemoteOptions } from './native/remote-cache.ts'
export type { GitObject, ObjectReader, ObjectType } from './object-reader.ts'
export {
  type GitOptions,
  type GitReader,
  openGit,
  openRemoteGit,
  type RepositoryOptions,
} from './open-git.ts'
