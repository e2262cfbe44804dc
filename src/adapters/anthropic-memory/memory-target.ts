import { type CallContext, checkPath, type FileSystem, isLinkable, isVfsError } from '../../vfs/index.ts'
import { createLinkError, MemoryError } from './memory-error.ts'

/** What the model knows the directory by. */
export const MEMORIES = '/memories'

/** No path of any system is longer. */
const MAX_PATH = 4096

/** A path of the model and where it is. */
export interface MemoryTarget {
  /** As the model knows it, below `/memories`. */
  readonly shown: string
  /** In the file system. */
  readonly path: string
  readonly isRoot: boolean
}

/**
 * Where a path of the model is below a directory. MemoryError for whatever is not below `/memories` to the letter, also
 * once a percent sign or a backslash is taken for what some would take it for, and where a link is on the way.
 */
export async function resolveMemoryPath(
  fs: FileSystem,
  directory: string,
  given: string,
  ctx: CallContext,
): Promise<MemoryTarget> {
  const shown = assertMemoryPath(given)
  const root = await resolveRealPath(fs, directory, ctx)
  const path = root === '/' ? shown.slice(MEMORIES.length) || '/' : root + shown.slice(MEMORIES.length)
  if ((await resolveRealPath(fs, path, ctx)) !== path) throw createLinkError()
  return { shown, path, isRoot: shown === MEMORIES }
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

/** As often as it takes: `%252e` is a dot to whoever decodes twice. What is no escape stays, and hides no other. */
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
