import { isVfsError } from '../error.ts'
import type { CallContext, FileSystem } from '../file-system.ts'
import { checkPath } from '../path.ts'
import { isSearchable, type Match, type SearchQuery } from '../protocols.ts'
import { type CompiledQuery, compileQuery, searchSteps } from '../search.ts'
import { readFile } from './file-content.ts'

/**
 * Yields the matching lines of one file, or of the files below a directory in the order of the walk. Throws ENOENT if
 * the root is missing. Holds one file at a time; skips binary files, links and unreadable paths.
 *
 * @example
 * ```ts
 * const fs = new MemoryFs({ '/src/a.ts': 'one\n// TODO: two\n' })
 * for await (const { path, line } of grep(fs, '/src', /TODO/)) assert.equal(`${path}:${line}`, '/src/a.ts:2')
 * ```
 */
export async function* grep(
  fs: FileSystem,
  root: string,
  query: SearchQuery | string | RegExp,
  ctx?: CallContext,
): AsyncGenerator<Match> {
  const top = checkPath(root, 'grep')
  const fullQuery = typeof query === 'string' || query instanceof RegExp ? { pattern: query } : query
  if (isSearchable(fs)) {
    yield* fs.search(top, fullQuery, ctx)
    return
  }
  const compiled = compileQuery(fullQuery)
  const { type } = await fs.stat(top, ctx)
  const content = type === 'directory' ? null : await readUnlessDirectory(fs, top, ctx)
  if (content !== null) {
    yield* findFileMatches(top, content, compiled, ctx)
    return
  }
  for await (const { path, stat } of fs.walk(top, undefined, ctx)) {
    if (stat.type === 'file') yield* findReadableMatches(fs, path, compiled, fullQuery, ctx)
  }
}

/** Returns the content of a file or of a link's target, or null if that is a directory. */
async function readUnlessDirectory(
  fs: FileSystem,
  path: string,
  ctx?: CallContext,
): Promise<Uint8Array | null> {
  try {
    return await readFile(fs, path, undefined, ctx)
  } catch (error) {
    if (isVfsError(error, 'EISDIR')) return null
    throw error
  }
}

async function* findReadableMatches(
  fs: FileSystem,
  path: string,
  query: CompiledQuery,
  { onUnreadable }: SearchQuery,
  ctx?: CallContext,
): AsyncGenerator<Match> {
  try {
    yield* findFileMatches(path, await readFile(fs, path, undefined, ctx), query, ctx)
  } catch (error) {
    if (!isVfsError(error)) throw error
    onUnreadable?.(path, error)
  }
}

async function* findFileMatches(
  path: string,
  bytes: Uint8Array,
  query: CompiledQuery,
  ctx?: CallContext,
): AsyncGenerator<Match> {
  for (const step of searchSteps(path, bytes, query)) {
    if (step === null) await query.yielder.yield(ctx?.signal)
    else yield step
  }
}
