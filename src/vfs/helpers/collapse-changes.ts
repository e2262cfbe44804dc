import type { CallContext, FileSystem } from '../file-system.ts'
import type { PathChange } from '../protocols.ts'
import { statIfPresent } from './stat-if-present.ts'

/** Number of files from which on a directory is reported in place of them. */
const MIN_COLLAPSED_FILES = 100

/** A directory that is new or deleted as a whole, with so many files that nobody would read their names. */
export interface CollapsedDirectory {
  readonly kind: 'added' | 'deleted'
  readonly path: string
  readonly files: number
}

/** Changes, with large new and deleted directories in place of the files below them. */
interface CollapsedChanges {
  readonly changes: readonly PathChange[]
  readonly directories: readonly CollapsedDirectory[]
}

/**
 * Replaces the files of new and deleted directories, such as `node_modules` after an installation, by the directory and
 * their number. A directory with fewer than a hundred files keeps them. O(changes).
 */
export async function collapseChanges(
  changes: AsyncIterable<PathChange> | Iterable<PathChange>,
  { before, after }: { readonly before: FileSystem; readonly after: FileSystem },
  ctx: CallContext = {},
): Promise<CollapsedChanges> {
  const [missingBefore, missingAfter] = [
    new MissingDirectories(before, ctx),
    new MissingDirectories(after, ctx),
  ]
  const entries: { readonly change: PathChange; readonly directory: CountedDirectory | undefined }[] = []
  const counted = new Map<string, CountedDirectory>()
  for await (const change of changes) {
    const { kind, path } = change
    const isWhole = kind === 'added' || kind === 'deleted'
    const root = isWhole ? await (kind === 'added' ? missingBefore : missingAfter).findRoot(path) : undefined
    if (!isWhole || root === undefined) entries.push({ change, directory: undefined })
    else {
      const directory = counted.get(`${kind} ${root}`) ?? { kind, path: root, files: 0 }
      directory.files++
      counted.set(`${kind} ${root}`, directory)
      entries.push({ change, directory })
    }
  }
  const isLarge = (directory: CountedDirectory) => directory.files >= MIN_COLLAPSED_FILES
  return {
    changes: entries.flatMap(({ change, directory }) => (directory && isLarge(directory) ? [] : change)),
    directories: [...counted.values()].filter(isLarge),
  }
}

/** A directory whose files are being counted. */
interface CountedDirectory extends CollapsedDirectory {
  files: number
}

/** Finds the outermost directories that a tree does not have. */
class MissingDirectories {
  readonly #tree: FileSystem
  readonly #ctx: CallContext
  readonly #isPresent = new Map<string, boolean>()

  constructor(tree: FileSystem, ctx: CallContext) {
    this.#tree = tree
    this.#ctx = ctx
  }

  /** Returns the outermost missing directory around a path; undefined if none is missing. */
  async findRoot(path: string): Promise<string | undefined> {
    for (let end = path.indexOf('/', 1); end !== -1; end = path.indexOf('/', end + 1)) {
      const directory = path.slice(0, end)
      if (!(await this.#has(directory))) return directory
    }
    return undefined
  }

  async #has(directory: string): Promise<boolean> {
    const cached = this.#isPresent.get(directory)
    if (cached !== undefined) return cached
    const isPresent = (await statIfPresent(this.#tree, directory, this.#ctx))?.type === 'directory'
    this.#isPresent.set(directory, isPresent)
    return isPresent
  }
}
