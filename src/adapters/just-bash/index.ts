/**
 * Any file system as the file system of just-bash, a shell in TypeScript: scripts run on a vault, a mount table or any
 * backend. It has no shell of its own, and no state except the files that just-bash puts into `/bin`, `/dev` and
 * similar directories. Invariant: the file system is called outside of just-bash's sandbox; all asynchronous
 * calls pass through one method.
 */
export { type BashFileSystemOptions, bashFileSystem } from './bash-file-system.ts'
export { type CreateBashOptions, createBash } from './create-bash.ts'
