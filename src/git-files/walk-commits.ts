import { inflateSync } from 'node:zlib'

const MAX_COMMITS = 10_000
/** A commit is small; a larger object is none, or not worth reading. */
export const MAX_COMMIT_BYTES: number = 2 ** 20

/**
 * Walks from a commit to its ancestors, as far as their loose objects can be found. Yields the path of each object, and
 * takes its content, or undefined if there is none. Returns the commits; a known one is among them, and ends the walk.
 * @param store the directory with `objects`.
 */
export function* walkCommits(
  store: string,
  tip: string,
  known?: string,
): Generator<string, Set<string>, Uint8Array | undefined> {
  const found = new Set<string>()
  const queue = [tip]
  for (let id = queue.shift(); id !== undefined && found.size < MAX_COMMITS; id = queue.shift()) {
    if (found.has(id)) continue
    const parents =
      id === known ? [] : parseParents(yield `${store}/objects/${id.slice(0, 2)}/${id.slice(2)}`)
    if (parents === undefined) continue
    found.add(id)
    queue.push(...parents)
  }
  return found
}

/** Parses the parents of a commit from its loose object; undefined if it is none. */
function parseParents(object: Uint8Array | undefined): string[] | undefined {
  if (object === undefined || object.length > MAX_COMMIT_BYTES) return undefined
  try {
    const text = inflateSync(object, { maxOutputLength: MAX_COMMIT_BYTES }).toString('latin1')
    const [head = ''] = text.split('\n\n')
    if (!head.startsWith('commit ')) return undefined
    return [...head.matchAll(/^parent ([0-9a-f]+)$/gm)].map(([, parent = '']) => parent)
  } catch {
    // Not an object of git, whatever wrote it.
    return undefined
  }
}
