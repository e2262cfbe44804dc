import { type CallContext, child, type FileSystem, isVfsError } from '../../vfs/index.ts'

/** Limit of the list. Deeper files are read by URI, found with tools, and completed. */
const MAX_LISTED = 1000
/** Names that are not useful in a list. */
const HIDDEN_NAME = /^(?:\..*|node_modules)$/

/** A listed file; `root` is the index of its top directory. */
export interface ListedFile {
  readonly root: number
  readonly path: string
  readonly type: 'file' | 'directory'
}

export interface ListedRoots {
  readonly fs: FileSystem
  readonly roots: readonly string[]
}

/**
 * Lists each root with the files below it, level by level. The limit cuts off the deep files, and the roots after them.
 */
export async function listFiles({ fs, roots }: ListedRoots, ctx: CallContext): Promise<ListedFile[]> {
  const found: ListedFile[] = []
  for (const [root, path] of roots.entries()) {
    found.push({ root, path, type: 'directory' })
    for await (const file of walkFiles(fs, path, ctx)) {
      if (found.length >= MAX_LISTED) return found
      found.push({ root, path: file, type: 'file' })
    }
  }
  return found
}

/** Compares files in the order of the list. */
export function compareListedFiles(a: ListedFile, b: ListedFile): number {
  return a.root - b.root || compareByLevel(a.path.split('/'), b.path.split('/'))
}

function compareByLevel(a: readonly string[], b: readonly string[]): number {
  if (a.length !== b.length) return a.length - b.length
  const level = a.findIndex((name, index) => name !== b[index])
  const [nameOfA = '', nameOfB = ''] = [a[level], b[level]]
  return level === -1 ? 0 : nameOfA < nameOfB ? -1 : 1
}

async function* walkFiles(fs: FileSystem, top: string, ctx: CallContext): AsyncGenerator<string> {
  const directories = [top]
  for (const directory of directories) {
    try {
      for await (const { name, type } of fs.readdir(directory, ctx)) {
        if (HIDDEN_NAME.test(name)) continue
        if (type === 'file') yield child(directory, name)
        else if (type === 'directory' && directories.length < MAX_LISTED)
          directories.push(child(directory, name))
      }
    } catch (error) {
      // Deleted since its parent was listed, or not readable: list the rest.
      if (!isVfsError(error)) throw error
    }
  }
}
