import { type CallContext, checkPath, type FileSystem, isLinkable, isVfsError } from '../../vfs/index.ts'
import { createLinkError, MemoryError } from './memory-error.ts'

/** Name of the directory for the model. */
export const MEMORIES = '/memories'

/** Longest path; no system allows more. */
const MAX_PATH = 4096

/** A path of the model and its path in the file system. */
export interface MemoryTarget {
  /** Path as the model writes it, below `/memories`. */
  readonly displayPath: string
  /** Path in the file system. */
  readonly path: string
  readonly isRoot: boolean
}

/**
 * Resolves a path of the model. MemoryError for a path that is not literally below `/memories`, also after
 * decoding percent signs and backslashes, and for a path through a link.
 */
export async function resolveMemoryPath(
  fs: FileSystem,
  directory: string,
  given: string,
  ctx: CallContext,
): Promise<MemoryTarget> {
  const displayPath = assertMemoryPath(given)
  const root = await resolveRealPath(fs, directory, ctx)
  const path =
    root === '/' ? displayPath.slice(MEMORIES.length) || '/' : root + displayPath.slice(MEMORIES.length)
  if ((await resolveRealPath(fs, path, ctx)) !== path) throw createLinkError()
  return { displayPath, path, isRoot: displayPath === MEMORIES }
}

function assertMemoryPath(given: string): string {
  if (given !== MEMORIES && !given.startsWith(`${MEMORIES}/`)) {
    throw new MemoryError(`Path must start with ${MEMORIES}, got: ${given}`)
  }
  if (given.length > MAX_PATH) throw new MemoryError(`Path is longer than ${MAX_PATH} characters`)
  if (hasTraversal(given)) throw new MemoryError(`Path ${given} would escape ${MEMORIES} directory`)
  try {
    return checkPath(given)
  } catch (error) {
    if (!isVfsError(error)) throw error
    throw new MemoryError(`Path ${given} cannot be used: ${error.detail}`)
  }
}

function hasTraversal(path: string): boolean {
  return [path, decodeFully(path)].some((reading) => reading.split(/[/\\]/).includes('..'))
}

/** Decodes repeatedly: `%252e` is a dot after two decodings. Invalid escapes stay as they are. */
function decodeFully(path: string): string {
  const byte = (_: string, digits: string) => String.fromCharCode(Number.parseInt(digits, 16))
  for (let text = path; ; ) {
    const once = text.replaceAll(/%([0-9a-f]{2})/gi, byte)
    if (once === text) return text
    text = once
  }
}

async function resolveRealPath(fs: FileSystem, path: string, ctx: CallContext): Promise<string> {
  return isLinkable(fs) ? fs.realpath(path, { followLast: true }, ctx) : checkPath(path)
}
