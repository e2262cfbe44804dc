import { isVfsError } from '../error.ts'
import type { CallContext, FileSystem, WalkEntry, WalkOptions } from '../file-system.ts'
import { child, normalize, split } from '../path.ts'
import { compileGlob, expandBraces, hasWildcard, matchesPattern } from './glob-pattern.ts'

/**
 * Yields the paths below `cwd` that match a pattern: `*` and `?` inside a name, `**` over any depth, `[a-z]`, `[!a-z]`,
 * `{one,two}`. Reads only the directories that the pattern can reach.
 *
 * @example
 * ```ts
 * const fs = new MemoryFs({ '/src/a.ts': 'a', '/src/deep/b.ts': 'b', '/c.md': 'c' })
 * const found = await Array.fromAsync(glob(fs, '/src/*.ts'), ({ path }) => path)
 * assert.deepEqual(found, ['/src/a.ts'])
 * ```
 */
export async function* glob(
  fs: FileSystem,
  pattern: string,
  { cwd = '/', includeDirs = false }: { readonly cwd?: string } & Pick<WalkOptions, 'includeDirs'> = {},
  ctx?: CallContext,
): AsyncGenerator<WalkEntry> {
  const seen = new Set<string>()
  for (const alternative of expandBraces(pattern)) {
    const root = alternative.startsWith('/') ? '/' : normalize(cwd)
    for await (const entry of findMatching(fs, root, split(`/${alternative}`), includeDirs, ctx)) {
      // Two alternatives, or two expansions of one `**`, may match the same file.
      if (seen.has(entry.path)) continue
      seen.add(entry.path)
      yield entry
    }
  }
}

/** Reports whether an absolute path matches an absolute pattern. */
export function matchesGlob(path: string, pattern: string): boolean {
  return expandBraces(pattern).some((alternative) => matchesPattern(compileGlob(split(alternative)), path))
}

async function* findMatching(
  fs: FileSystem,
  root: string,
  names: readonly string[],
  includeDirs: boolean,
  ctx?: CallContext,
): AsyncGenerator<WalkEntry> {
  const firstWildcard = names.findIndex(hasWildcard)
  const start = (firstWildcard === -1 ? names : names.slice(0, firstWildcard)).reduce(child, root)
  if (firstWildcard === -1) {
    yield* findExisting(fs, start, includeDirs, ctx)
    return
  }
  const rest = names.slice(firstWildcard)
  const compiled = compileGlob(rest)
  const prefix = start === '/' ? 0 : start.length
  const limit = rest.includes('**') ? {} : { maxDepth: rest.length }
  for await (const entry of fs.walk(start, { includeDirs, ...limit }, ctx)) {
    if (matchesPattern(compiled, entry.path.slice(prefix))) yield entry
  }
}

async function* findExisting(
  fs: FileSystem,
  path: string,
  includeDirs: boolean,
  ctx?: CallContext,
): AsyncGenerator<WalkEntry> {
  try {
    const stat = await fs.stat(path, ctx)
    if (includeDirs || stat.type !== 'directory') yield { path, stat }
  } catch (error) {
    if (!isVfsError(error, 'ENOENT')) throw error
  }
}
