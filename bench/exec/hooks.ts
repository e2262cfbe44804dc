/** Files in directories in which an agent's hook finds no change, and the seconds that it may take. */
export const HOOK_LIMITS: ReadonlyMap<number, number> = new Map([
  [10_000, 0.06],
  [100_000, 0.3],
])
export const HOOK_SIZES: readonly number[] = [...HOOK_LIMITS.keys()]
/** The same while the watcher watches the largest of them. */
export const WATCHED_HOOK_LIMIT = 0.06
/** Records of small edits, and the bytes that they may take. */
export const HOOK_RECORDS = 1000
export const HOOK_BYTES: number = 10 * 2 ** 20
