/** A parsed commit object. */
export interface Commit {
  readonly id: string
  readonly tree: string
  readonly parents: readonly string[]
  /** Verbatim signature: `Ada <ada@example.org> 1700000000 +0100`. */
  readonly author: string
  readonly committer: string
  readonly message: string
  /** Commit time. */
  readonly time: Date
}

/** Parses a commit object. Undefined if it is damaged. */
export function parseCommit(id: string, bytes: Uint8Array): Commit | undefined {
  const object = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  const border = object.indexOf('\n\n')
  const header = border === -1 ? object : object.subarray(0, border)
  const lines = header.toString('latin1').split('\n')
  const decode = createDecoder(findHeaderValues(lines, 'encoding')[0])
  const [tree] = findHeaderValues(lines, 'tree')
  if (tree === undefined) return undefined
  const text = (key: string) => decode(Buffer.from(findHeaderValues(lines, key)[0] ?? '', 'latin1'))
  const committer = text('committer')
  return {
    id,
    tree,
    parents: findHeaderValues(lines, 'parent'),
    author: text('author'),
    committer,
    message: border === -1 ? '' : decode(object.subarray(border + 2)),
    time: parseTime(committer),
  }
}

function findHeaderValues(lines: readonly string[], key: string): string[] {
  return lines.filter((line) => line.startsWith(`${key} `)).map((line) => line.slice(key.length + 1))
}

/** Returns the decoder for a commit's encoding. An unknown encoding is read as UTF-8. */
function createDecoder(encoding = 'utf-8'): (bytes: Uint8Array) => string {
  try {
    const decoder = new TextDecoder(encoding, { ignoreBOM: true })
    return (bytes) => decoder.decode(bytes)
  } catch {
    return (bytes) => Buffer.from(bytes).toString()
  }
}

function parseTime(committer: string): Date {
  const seconds = /> (-?\d+)/.exec(committer)?.[1] ?? '0'
  const time = new Date(Number(seconds) * 1000)
  return Number.isNaN(time.getTime()) ? new Date(0) : time
}
