import {
  type FileContents,
  findRefMoves,
  isHeadMove,
  isRefPath,
  listRefFiles,
  MAX_COMMIT_BYTES,
  MAX_PACKED_BYTES,
  parseCheckedOut,
  parseCommitId,
  parseGitPath,
  type RefMove,
  walkCommits,
} from '../../git-files/index.ts'
import type { TreeChange } from './compare-trees.ts'
import { type LinkEntry, readEntry } from './link-entry.ts'

/** Returns the entry at a path of a tree. */
export type FindEntry = (path: string) => LinkEntry | undefined

/** Returns the commit that a ref names; undefined for a symbolic or missing ref. */
export function readCommitId(ref: LinkEntry | undefined): string | undefined {
  const content = readSmallEntry(ref)
  return content === undefined ? undefined : parseCommitId(content)
}

/**
 * Lists a commit and its ancestors, as far as their loose objects can be found. Stops at a known commit, which is
 * listed too.
 * @param store the directory with `objects`.
 */
export function listCommits(find: FindEntry, store: string, tip: string, known?: string): Set<string> {
  const walk = walkCommits(store, tip, known)
  let step = walk.next()
  while (step.done !== true) step = walk.next(readSmallEntry(find(step.value)))
  return step.value
}

/** The trees of some changes, of which packed refs are read. */
interface ChangedTrees {
  readonly before: FindEntry
  readonly after: FindEntry
}

/**
 * Adds to each change the refs that it moved with the commits that they gained, and to that of HEAD what is checked out.
 * Only new objects count, and are read.
 * @param trees when absent, the changes are those of loose refs. See `unpackRefChanges`.
 */
export function addGitDetails(changes: readonly TreeChange[], trees?: ChangedTrees): TreeChange[] {
  if (!changes.some(({ path }) => isRefPath(path) || isHeadMove({ path, kind: 'modified' })))
    return [...changes]
  const states = new Map(changes.map((change) => [change.path, change]))
  const find = (path: string) => states.get(path)?.after
  const files = changes.filter(({ before, after }) => (after ?? before)?.type === 'file')
  const paths = files.map(({ path }) => path)
  const contents = listRefFiles(paths).map((path): [string, FileContents] => {
    const { before, after } = states.get(path) ?? { before: trees?.before(path), after: trees?.after(path) }
    return [path, { before: readRefFile(before), after: readRefFile(after) }]
  })
  const moves = findRefMoves(paths, new Map(contents))
  return changes.map((change) => {
    const refs = moves.get(change.path)?.map((move) => ({ ...move, commits: countCommits(find, move) }))
    const [own] = refs ?? []
    const checkedOut = readCheckedOut(change)
    return {
      ...change,
      ...(refs !== undefined && { refs }),
      ...(own?.path === change.path && own.tip !== undefined && { commits: own.commits }),
      ...(checkedOut !== undefined && { checkedOut }),
    }
  })
}

function countCommits(find: FindEntry, { path, tip }: RefMove): number {
  return tip === undefined ? 0 : listCommits(find, parseGitPath(path)?.store ?? '', tip).size
}

function readRefFile(entry: LinkEntry | undefined): Uint8Array | undefined {
  return entry?.type === 'file' && entry.size <= MAX_PACKED_BYTES ? readEntry(entry) : undefined
}

function readCheckedOut({ path, before, after }: TreeChange): string | undefined {
  const isMove = before !== undefined && after !== undefined && isHeadMove({ path, kind: 'modified' })
  const head = isMove ? readSmallEntry(after) : undefined
  return head && parseCheckedOut(head)
}

function readSmallEntry(entry: LinkEntry | undefined): Uint8Array | undefined {
  return entry?.type === 'file' && entry.size <= MAX_COMMIT_BYTES ? readEntry(entry) : undefined
}
