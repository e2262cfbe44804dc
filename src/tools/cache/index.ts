/**
 * The output cache: what a tool says at length is kept as a file, and the caller gets a stub that tells how to look
 * into it. The same for every face; it knows no tool and holds no output in memory.
 * Invariant: an output is never lost to the cache. If it cannot be kept, the caller gets all of it.
 */
export { type CachedOutput, TOOL_CACHE } from './cached-output.ts'
export { OutputCache, type OutputCacheOptions, type ToolOutput } from './output-cache.ts'
