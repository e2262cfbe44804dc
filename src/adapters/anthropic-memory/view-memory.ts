import { type CallContext, type FileSystem, readText, relativeTo, type Stat } from '../../vfs/index.ts'
import { createMissingFileError, isMissing, MemoryError } from './memory-error.ts'
import type { MemoryTarget } from './memory-target.ts'
import { formatNumberedLines, MAX_LINES } from './numbered-lines.ts'

const LEVELS = 2
const KIBI = 1024
const UNITS = ['B', 'K', 'M', 'G'] as const

/** Shows a directory two levels deep with sizes, or a file, or some of its lines, with numbers. */
export async function viewMemory(
  fs: FileSystem,
  target: MemoryTarget,
  range: readonly number[] | undefined,
  ctx: CallContext,
): Promise<string> {
  const stat = await statTarget(fs, target, ctx)
  // The directory does not exist before the first write; show it as empty.
  if (stat === null || stat.type === 'directory') return viewDirectory(fs, target, ctx)
  if (stat.type !== 'file') throw new MemoryError(`Unsupported file type for ${target.displayPath}`)
  return viewFile(await readText(fs, target.path, undefined, ctx), target.displayPath, range)
}

async function statTarget(
  fs: FileSystem,
  { path, displayPath, isRoot }: MemoryTarget,
  ctx: CallContext,
): Promise<Stat | null> {
  try {
    return await fs.stat(path, ctx)
  } catch (error) {
    if (!isMissing(error)) throw error
    if (isRoot) return null
    throw createMissingFileError(displayPath)
  }
}

function viewFile(text: string, displayPath: string, range: readonly number[] | undefined): string {
  const lines = text.split('\n')
  if (lines.length > MAX_LINES) {
    const limit = `Maximum is ${MAX_LINES.toLocaleString('en-US')} lines.`
    throw new MemoryError(`File ${displayPath} has too many lines (${lines.length}). ${limit}`)
  }
  const [from = 1, to = -1] = range ?? []
  const first = Math.max(1, from)
  const chosen = lines.slice(first - 1, to === -1 ? lines.length : to)
  return `Here's the content of ${displayPath} with line numbers:\n${formatNumberedLines(chosen, first)}`
}

/** Lists a directory two levels deep, each directory with the total size of its visible content. */
async function viewDirectory(
  fs: FileSystem,
  { path, displayPath }: MemoryTarget,
  ctx: CallContext,
): Promise<string> {
  const sizes = new Map([['', 0]])
  const grow = (name: string, size: number) => sizes.set(name, (sizes.get(name) ?? 0) + size)
  for await (const entry of fs.walk(path, { includeDirs: true }, ctx)) {
    const names = (relativeTo(entry.path, path) ?? '').split('/')
    const { type, size } = entry.stat
    if (names.some(isHidden) || (type !== 'file' && type !== 'directory')) continue
    const above = Math.min(names.length - 1, LEVELS)
    for (let depth = 0; depth <= above; depth++) grow(formatDirectory(names, depth), size)
    if (names.length > LEVELS) continue
    grow(type === 'directory' ? formatDirectory(names, names.length) : `/${names.join('/')}`, size)
  }
  const lines = [...sizes].map(([name, size]) => `${formatSize(size)}\t${displayPath}${name}`)
  const header = `Here're the files and directories up to ${LEVELS} levels deep in ${displayPath}, excluding hidden items and node_modules:`
  return [header, ...lines].join('\n')
}

function isHidden(name: string): boolean {
  return name.startsWith('.') || name === 'node_modules'
}

/** Formats the path of a directory relative to the viewed one; `''` is that one. */
function formatDirectory(names: readonly string[], depth: number): string {
  return depth === 0 ? '' : `/${names.slice(0, depth).join('/')}/`
}

function formatSize(bytes: number): string {
  const unit = bytes === 0 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log(bytes) / Math.log(KIBI)))
  const count = bytes / KIBI ** unit
  return `${Number.isInteger(count) ? count : count.toFixed(1)}${UNITS[unit]}`
}
