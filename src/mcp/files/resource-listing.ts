import { type CallContext, child, type FileSystem, isVfsError } from '../../vfs/index.ts'

/** A list a client can show. What is deeper is read by its URI, found with tools, and completed. */
const MAX_LISTED = 1000
/** What nobody wants to pick from a list. */
const HIDDEN_NAME = /^(?:\..*|node_modules)$/

/** A file of the list; its root is the index of the directory it was found below. */
export interface ListedFile {
  readonly root: number
  readonly path: string
  readonly type: 'file' | 'directory'
}

export interface ListedRoots {
  readonly fs: FileSystem
  readonly roots: readonly string[]
}

/** The roots and the files below them, level by level: what a limit cuts off is deep, not late in the alphabet. */
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

/** The order of the list. */
export function compareListedFiles(a: ListedFile, b: ListedFile): number {
  return a.root - b.root || compareByLevel(a.path.split('/'), b.path.split('/'))
}

function compareByLevel(a: readonly string[], b: readonly string[]): number {
  if (a.length !== b.length) return a.length - b.length
  const at = a.findIndex((name, index) => name !== b[index])
  const [ours = '', theirs = ''] = [a[at], b[at]]
  return at === -1 ? 0 : ours < theirs ? -1 : 1
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
      // Gone since its parent was listed, or not ours to see: the rest is still worth showing.
      if (!isVfsError(error)) throw error
    }
  }
}
