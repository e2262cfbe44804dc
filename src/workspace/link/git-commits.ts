import {
  isHeadMove,
  MAX_COMMIT_BYTES,
  parseCheckedOut,
  parseCommitId,
  parseGitPath,
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

/**
 * Adds to each change of a ref how many commits it gained, and to that of HEAD what is checked out. Only new objects count,
 * and are read.
 */
export function addGitDetails(changes: readonly TreeChange[]): TreeChange[] {
  const isRef = ({ path }: TreeChange) => parseGitPath(path)?.part === 'ref'
  if (!changes.some(isRef)) return [...changes]
  const states = new Map(changes.map(({ path, after }) => [path, after]))
  return changes.map((change) => {
    const tip = isRef(change) ? readCommitId(change.after) : undefined
    const checkedOut = readCheckedOut(change)
    const { store = '' } = parseGitPath(change.path) ?? {}
    return {
      ...change,
      ...(tip !== undefined && { commits: listCommits((path) => states.get(path), store, tip).size }),
      ...(checkedOut !== undefined && { checkedOut }),
    }
  })
}

function readCheckedOut({ path, before, after }: TreeChange): string | undefined {
  const isMove = before !== undefined && after !== undefined && isHeadMove({ path, kind: 'modified' })
  const head = isMove ? readSmallEntry(after) : undefined
  return head && parseCheckedOut(head)
}

function readSmallEntry(entry: LinkEntry | undefined): Uint8Array | undefined {
  return entry?.type === 'file' && entry.size <= MAX_COMMIT_BYTES ? readEntry(entry) : undefined
}
