import { isVfsError, VfsError } from '../error.ts'
import type { CallContext, FileSystem, WalkEntry, WalkOptions } from '../file-system.ts'
import { child, normalize, split } from '../path.ts'

/**
 * The paths below `cwd` that match a pattern: `*` and `?` inside a name, `**` over any depth, `[a-z]`, `[!a-z]`,
 * `{one,two}`. Only the directories the pattern can reach are read.
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
    for await (const entry of matching(fs, root, split(`/${alternative}`), includeDirs, ctx)) {
      // Two alternatives may name the same file, and so may two ways through one pattern's `**`.
      if (seen.has(entry.path)) continue
      seen.add(entry.path)
      yield entry
    }
  }
}

/** Whether an absolute path matches an absolute pattern. */
export function matchesGlob(path: string, pattern: string): boolean {
  return expandBraces(pattern).some((alternative) => globPattern(split(alternative)).test(path))
}

async function* matching(
  fs: FileSystem,
  root: string,
  names: readonly string[],
  includeDirs: boolean,
  ctx?: CallContext,
): AsyncGenerator<WalkEntry> {
  const fixed = names.findIndex(isSpecial)
  const start = (fixed === -1 ? names : names.slice(0, fixed)).reduce(child, root)
  if (fixed === -1) {
    yield* existing(fs, start, includeDirs, ctx)
    return
  }
  const rest = names.slice(fixed)
  const wanted = globPattern(rest)
  const prefix = start === '/' ? 0 : start.length
  const depth = rest.includes('**') ? {} : { maxDepth: rest.length }
  for await (const entry of fs.walk(start, { includeDirs, ...depth }, ctx)) {
    if (wanted.test(entry.path.slice(prefix))) yield entry
  }
}

async function* existing(
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

function isSpecial(name: string): boolean {
  return /[*?[]/.test(name)
}

/** `a{b,c}` as `ab` and `ac`; braces may nest. A brace that is not closed, or holds no comma, is a plain character. */
function expandBraces(pattern: string): string[] {
  const group = pattern.match(/^(?<before>.*?)\{(?<inside>[^{}]*,[^{}]*)\}(?<after>.*)$/s)?.groups
  if (group === undefined) return [pattern]
  const { before = '', inside = '', after = '' } = group
  return inside.split(',').flatMap((option) => expandBraces(before + option + after))
}

function globPattern(names: readonly string[]): RegExp {
  const parts = names.map((name, at) => {
    if (name !== '**') return `/${namePattern(name)}`
    return at === names.length - 1 ? '/.+' : '(?:/[^/]+)*'
  })
  try {
    return new RegExp(`^${parts.join('')}$`, 's')
  } catch (cause) {
    throw new VfsError('EINVAL', `/${names.join('/')}`, { op: 'glob', detail: 'not a valid pattern', cause })
  }
}

function namePattern(name: string): string {
  return name.replaceAll(/\*+|\?|\[(!?)([^\]]+)\]|[\\^$.|+(){}[\]]/g, (token, negated, set) => {
    if (token.startsWith('*')) return '[^/]*'
    if (token === '?') return '[^/]'
    if (set === undefined) return `\\${token}`
    return `${negated ? '(?!/)[^' : '['}${String(set).replaceAll(/[\\\]^]/g, '\\$&')}]`
  })
}
