/**
 * Any file system as the one of just-bash, a shell in TypeScript: scripts run on a vault, a mount table or any backend.
 * No shell of its own, and no state but the files just-bash puts into `/bin`, `/dev` and the like.
 * Invariant: the file system is called outside of just-bash's sandbox, and every call passes one gate.
 */
export { type BashFileSystemOptions, bashFileSystem } from './bash-file-system.ts'
export { type CreateBashOptions, createBash } from './create-bash.ts'
