/**
 * Any file system as the one of just-bash, a shell in TypeScript: scripts work on a vault, a mount table, anything.
 * No shell of its own, and no state but what just-bash puts into `/bin`, `/dev` and the like.
 * Invariant: the file system is called outside of just-bash's sandbox, and every call of just-bash is one gate's.
 */
export { type BashFileSystemOptions, bashFileSystem } from './bash-file-system.ts'
export { type CreateBashOptions, createBash } from './create-bash.ts'
