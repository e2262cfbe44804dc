import type { CallContext, DirEntry, FileSystem, WalkOptions } from '../file-system.ts'
import { basename, checkPath } from '../path.ts'
import { ReadyStream } from '../ready-stream.ts'

/** Result of `du`: files, directories and bytes below a path. */
export interface DiskUsage {
  readonly files: number
  readonly directories: number
  readonly bytes: number
}

/** Returns the immediate children of a directory as an array. ENOENT, ENOTDIR. */
export function list(fs: FileSystem, path: string, ctx?: CallContext): Promise<DirEntry[]> {
  const entries = fs.readdir(path, ctx)
  return entries instanceof ReadyStream ? entries.rest() : Array.fromAsync(entries)
}

/** Counts the files and directories below a root, and the bytes of the files. */
export async function du(fs: FileSystem, root = '/', ctx?: CallContext): Promise<DiskUsage> {
  const { type, size } = await fs.stat(root, ctx)
  if (type !== 'directory') return { files: 1, directories: 0, bytes: size }
  const usage = { files: 0, directories: 0, bytes: 0 }
  for await (const { stat } of fs.walk(root, { includeDirs: true }, ctx)) {
    if (stat.type === 'directory') usage.directories++
    else usage.files++
    usage.bytes += stat.size
  }
  return usage
}

/** Options of `tree`. */
export interface TreeOptions extends Pick<WalkOptions, 'maxDepth'> {
  /** Escapes names for printing: a name with a newline would look like two lines. Names are unchanged when absent. */
  readonly formatName?: (name: string) => string
}

/**
 * Draws the tree below a root as the `tree` command does. Directories end with a slash.
 *
 * @example
 * ```ts
 * const fs = new MemoryFs({ '/src/a.ts': 'a' })
 * assert.equal(await tree(fs, '/src'), '/src/\n└── a.ts')
 * ```
 */
export async function tree(
  fs: FileSystem,
  root = '/',
  { maxDepth, formatName = (name) => name }: TreeOptions = {},
  ctx?: CallContext,
): Promise<string> {
  const top = checkPath(root, 'tree')
  const { type } = await fs.stat(top, ctx)
  const lines: TreeLine[] = []
  const options = { includeDirs: true, ...(maxDepth !== undefined && { maxDepth }) }
  for await (const { path, stat } of fs.walk(top, options, ctx)) {
    const slash = stat.type === 'directory' ? '/' : ''
    lines.push({ depth: depthBelow(top, path), name: formatName(basename(path)) + slash })
  }
  const title = formatName(top) + (type === 'directory' && top !== '/' ? '/' : '')
  return [title, ...drawTree(lines)].join('\n')
}

interface TreeLine {
  readonly depth: number
  readonly name: string
}

/** Draws from the last line up: a branch is open if a later line of the same depth follows it. */
function drawTree(lines: readonly TreeLine[]): string[] {
  const open: boolean[] = []
  return lines
    .toReversed()
    .map(({ depth, name }) => {
      const bars = Array.from({ length: depth - 1 }, (_, level) => (open[level + 1] ? '│   ' : '    '))
      const corner = open[depth] ? '├── ' : '└── '
      open[depth] = true
      open.length = depth + 1
      return bars.join('') + corner + name
    })
    .reverse()
}

function depthBelow(root: string, path: string): number {
  return path.split('/').length - (root === '/' ? 1 : root.split('/').length)
}
