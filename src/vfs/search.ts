import type { Match, SearchQuery } from './protocols.ts'

/** How far into a file a NUL byte marks it as binary. */
const BINARY_PROBE_BYTES = 8000

/** A query made ready to run over many files. */
export interface CompiledQuery {
  readonly isMatch: (line: string) => boolean
  /** Bytes that any matching file must contain, when the pattern tells: files without them are not even decoded. */
  readonly required: Buffer | null
  readonly before: number
  readonly after: number
}

export function compileQuery({ pattern, before = 0, after = 0 }: SearchQuery): CompiledQuery {
  if (typeof pattern === 'string') {
    return { isMatch: (line) => line.includes(pattern), required: bytesOf(pattern), before, after }
  }
  // The g and y flags make a RegExp remember where it stopped, which must not leak from line to line.
  const stateless = new RegExp(pattern.source, pattern.flags.replace(/[gy]/g, ''))
  const required = pattern.flags.includes('i') ? '' : literalPrefix(pattern.source)
  return {
    isMatch: (line) => stateless.test(line),
    required: bytesOf(required),
    before,
    after,
  }
}

/** The matching lines of one file; none if it is binary. */
export function* matchesIn(path: string, bytes: Uint8Array, query: CompiledQuery): Generator<Match> {
  const { required, isMatch, before, after } = query
  if (required !== null && Buffer.prototype.indexOf.call(bytes, required) === -1) return
  if (bytes.subarray(0, BINARY_PROBE_BYTES).includes(0)) return
  const lines = linesOf(bytes)
  for (const [index, text] of lines.entries()) {
    if (!isMatch(text)) continue
    yield {
      path,
      line: index + 1,
      text,
      before: lines.slice(Math.max(0, index - before), index),
      after: lines.slice(index + 1, index + 1 + after),
    }
  }
}

function linesOf(bytes: Uint8Array): string[] {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8')
  const lines = text.split('\n')
  if (lines.at(-1) === '') lines.pop()
  return text.includes('\r') ? lines.map((line) => (line.endsWith('\r') ? line.slice(0, -1) : line)) : lines
}

/** The bytes a text stands for in a file, or null where no bytes or several stand for it. */
function bytesOf(text: string): Buffer | null {
  return text === '' || !text.isWellFormed() || text.includes('\ufffd') ? null : Buffer.from(text)
}

/** The plain characters every match of a pattern starts with: up to its first special one, or none if unsure. */
function literalPrefix(source: string): string {
  if (source.includes('|')) return ''
  const plain = source.match(/^[^\\^$.*+?()[\]{}]*/)?.[0] ?? ''
  const next = source[plain.length]
  const isOptional = next === '*' || next === '?' || next === '{'
  return isOptional ? plain.slice(0, -1) : plain
}
