import { parseGitPath } from './git-path.ts'
import { findPackedRefsPath, parsePackedRefs, toLooseRefPath } from './packed-refs.ts'
import { parseCommitId } from './parse-ref.ts'

/** A ref whose commit changed, wherever git keeps it. */
export interface RefMove {
  /** The path that its loose file has. */
  readonly path: string
  readonly kind: 'added' | 'modified' | 'deleted'
  /** Its commit or tag now; undefined if it is deleted or names another ref. */
  readonly tip?: string | undefined
  /** Commits that it gained. */
  readonly commits?: number | undefined
}

/** Contents of a file before and after. */
export interface FileContents {
  readonly before: Uint8Array | undefined
  readonly after: Uint8Array | undefined
}

const SIDES = ['before', 'after'] as const
const NOTHING: FileContents = { before: undefined, after: undefined }

/** True for a path that is a ref, or the file with all that are packed. */
export function isRefPath(path: string): boolean {
  return findPackedRefsPath(path) !== undefined || parseGitPath(path)?.part === 'packed-refs'
}

/** Lists the files whose contents decide which refs changed: those of changed refs, and the packed ones beside them. */
export function listRefFiles(changed: Iterable<string>): string[] {
  const paths = [...changed].filter(isRefPath)
  return [...new Set(paths.flatMap((path) => [path, findPackedRefsPath(path) ?? path]))]
}

/**
 * Finds the refs whose commits changed, by the changed path that shows it. Git may move a ref between its loose file and
 * `packed-refs`, which is no change of it.
 * @param contents those of `listRefFiles`.
 */
export function findRefMoves(
  changed: Iterable<string>,
  contents: ReadonlyMap<string, FileContents>,
): ReadonlyMap<string, readonly RefMove[]> {
  const finder = new RefMoveFinder(contents)
  const paths = new Set([...changed].filter(isRefPath))
  return new Map([...paths].map((path) => [path, finder.find(path, paths)]))
}

class RefMoveFinder {
  readonly #contents: ReadonlyMap<string, FileContents>
  readonly #packed = new Map<string, Readonly<Record<'before' | 'after', ReadonlyMap<string, string>>>>()

  constructor(contents: ReadonlyMap<string, FileContents>) {
    this.#contents = contents
  }

  find(path: string, changed: ReadonlySet<string>): RefMove[] {
    const file = findPackedRefsPath(path)
    if (file !== undefined) return this.#compare(path, file)
    const { before, after } = this.#parse(path)
    const names = new Set([...before.keys(), ...after.keys()])
    return [...names].flatMap((name) => {
      const loose = toLooseRefPath(path, name)
      return before.get(name) === after.get(name) || changed.has(loose) ? [] : this.#compare(loose, path)
    })
  }

  #compare(path: string, file: string): RefMove[] {
    const [before, after] = SIDES.map((side) => this.#read(path, file, side))
    if (before === after) return []
    const kind = before === undefined ? 'added' : after === undefined ? 'deleted' : 'modified'
    return [{ path, kind, tip: after && parseCommitId(Buffer.from(after)) }]
  }

  /** Reads the value of a ref as git does: its loose file wins. */
  #read(path: string, file: string, side: (typeof SIDES)[number]): string | undefined {
    const loose = this.#contents.get(path)?.[side]
    if (loose !== undefined) return Buffer.from(loose).toString().trim()
    return this.#parse(file)[side].get(parseGitPath(path)?.name ?? '')
  }

  #parse(file: string): Readonly<Record<'before' | 'after', ReadonlyMap<string, string>>> {
    const { before, after } = this.#contents.get(file) ?? NOTHING
    const parse = (content: Uint8Array | undefined) =>
      (content && parsePackedRefs(content)) ?? new Map<string, string>()
    const parsed = this.#packed.get(file) ?? { before: parse(before), after: parse(after) }
    this.#packed.set(file, parsed)
    return parsed
  }
}
