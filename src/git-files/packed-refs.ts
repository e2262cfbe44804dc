import { parseGitPath } from './git-path.ts'

/** A larger file is not read. */
export const MAX_PACKED_BYTES: number = 64 * 2 ** 20
const PACKED_REF = /^([0-9a-f]{40}(?:[0-9a-f]{24})?) (refs\/[^\r]+)$/
/** Forms that git allows in no name, and with which a name could lead out of `refs`. */
const FORBIDDEN = /\p{Cc}|[ ~^:?*[\\]|\/\/|\/$|\.\.|\/\.|\.$|@\{|\.lock(?:\/|$)/u

/** Returns the file with the packed refs of the repository that a ref belongs to; undefined for HEAD and other paths. */
export function findPackedRefsPath(path: string): string | undefined {
  const git = parseGitPath(path)
  return git?.part === 'ref' && git.name !== 'HEAD' ? `${git.store}/packed-refs` : undefined
}

/** Returns the path of a loose ref. */
export function toLooseRefPath(packedRefs: string, name: string): string {
  return packedRefs.replace(/packed-refs$/, name)
}

/**
 * Parses a file with packed refs: the commit or tag of each name. Leaves out names that git does not allow. Undefined if
 * the file is too large.
 */
export function parsePackedRefs(content: Uint8Array): Map<string, string> | undefined {
  if (content.length > MAX_PACKED_BYTES) return undefined
  const refs = new Map<string, string>()
  for (const line of Buffer.from(content).toString().split('\n')) {
    const [, id, name] = PACKED_REF.exec(line) ?? []
    if (id !== undefined && name !== undefined && !FORBIDDEN.test(name)) refs.set(name, id)
  }
  return refs
}

/** Removes refs from a file with packed refs, with the lines that belong to them. Keeps every other byte. */
export function removePackedRefs(content: Uint8Array, names: ReadonlySet<string>): Uint8Array {
  let isRemoved = false
  // In this encoding, bytes that are no text come back unchanged.
  const lines = Buffer.from(content).toString('latin1').split('\n')
  const kept = lines.filter((line) => {
    // `^` and a commit follow the line of a tag.
    if (line.startsWith('^')) return !isRemoved
    const [, , name = ''] = PACKED_REF.exec(line) ?? []
    isRemoved = names.has(Buffer.from(name, 'latin1').toString())
    return !isRemoved
  })
  return Buffer.from(kept.join('\n'), 'latin1')
}
