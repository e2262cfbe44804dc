import { inflateSync } from 'node:zlib'
import { type LinkEntry, readEntry } from './link-entry.ts'

const COMMIT_ID = /^[0-9a-f]{40}(?:[0-9a-f]{24})?$/
const MAX_COMMITS = 10_000
/** A ref has one id in it, or a short line. */
const MAX_REF_BYTES = 100
/** A commit is small; a larger object is none, or not worth reading. */
const MAX_OBJECT_BYTES = 2 ** 20

/** Returns the entry at a path of a tree. */
export type FindEntry = (path: string) => LinkEntry | undefined

/** Returns the commit that a ref names; undefined for a symbolic or missing ref. */
export function readCommitId(ref: LinkEntry | undefined): string | undefined {
  if (ref?.type !== 'file' || ref.size > MAX_REF_BYTES) return undefined
  const id = Buffer.from(readEntry(ref)).toString().trim()
  return COMMIT_ID.test(id) ? id : undefined
}

/**
 * Lists a commit and its ancestors, as far as their loose objects can be found. Stops at a known commit, which is
 * listed too.
 * @param store the directory with `objects`.
 */
export function listCommits(find: FindEntry, store: string, tip: string, known?: string): Set<string> {
  const listed = new Set<string>()
  const queue = [tip]
  while (queue.length > 0 && listed.size < MAX_COMMITS) {
    const id = queue.shift() ?? ''
    const parents = listed.has(id) ? undefined : id === known ? [] : readParents(find, store, id)
    if (parents === undefined) continue
    listed.add(id)
    queue.push(...parents)
  }
  return listed
}

/** Returns the parents of a commit; undefined if it is not there as a loose object. */
function readParents(find: FindEntry, store: string, id: string): string[] | undefined {
  const entry = find(`${store}/objects/${id.slice(0, 2)}/${id.slice(2)}`)
  if (entry?.type !== 'file' || entry.size > MAX_OBJECT_BYTES) return undefined
  try {
    const text = inflateSync(readEntry(entry), { maxOutputLength: MAX_OBJECT_BYTES }).toString('latin1')
    const [head = ''] = text.split('\n\n')
    if (!head.startsWith('commit ')) return undefined
    return [...head.matchAll(/^parent ([0-9a-f]+)$/gm)].map(([, parent = '']) => parent)
  } catch {
    // Not an object of git, whatever wrote it.
    return undefined
  }
}
