const OFFSETS = [0x811c9dc5, 0x9e3779b9] as const
const PRIME = 0x01000193
const DIGITS = 12

/**
 * Returns twelve hexadecimal digits for a path (FNV-1a, twice). Node's own hashes take a hook as long to load as
 * everything else together.
 */
export function hashPath(path: string): string {
  const [first, second] = OFFSETS.map((offset) => {
    let hash: number = offset
    for (const byte of Buffer.from(path)) hash = Math.imul(hash ^ byte, PRIME)
    return (hash >>> 0).toString(16).padStart(8, '0')
  })
  return `${first}${second}`.slice(0, DIGITS)
}
