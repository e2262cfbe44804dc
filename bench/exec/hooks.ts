/** Files in directories in which an agent's hook finds no change. */
export const HOOK_SIZES: readonly number[] = [10_000, 100_000]
/** Seconds that a hook may take while the watcher watches them, which it does unless the settings say no. */
export const WATCHED_HOOK_LIMIT = 0.06
/** Seconds that a hook may take in the most files without the watcher. */
export const HOOK_LIMIT = 0.3
/** Records of small edits, and the bytes that they may take. */
export const HOOK_RECORDS = 1000
export const HOOK_BYTES: number = 10 * 2 ** 20
