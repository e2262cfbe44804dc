/**
 * The output cache: a long output is stored as a file, and the caller gets a stub that explains how to read
 * it. The same for every frontend; it knows no tool and holds no output in memory.
 * Invariant: no output is lost. If it cannot be cached, the caller gets all of it.
 */
export { CacheUsage } from './cache-usage.ts'
export { type CachedOutput, TOOL_CACHE } from './cached-output.ts'
export { OutputCache, type OutputCacheOptions, type ToolOutput } from './output-cache.ts'
