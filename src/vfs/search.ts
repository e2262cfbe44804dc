import { contains, type Needle, needleOf } from './needle.ts'
import type { Match, SearchQuery } from './protocols.ts'

/** How far into a file a NUL byte marks it as binary. */
const BINARY_PROBE_BYTES = 8000

/** A query made ready to run over many files. */
export interface CompiledQuery {
  readonly isMatch: (line: string) => boolean
  /** What any matching file must contain, when the pattern tells: files without it are not even decoded. */
  readonly required: Needle | null
  readonly before: number
  readonly after: number
}

export function compileQuery({ pattern, before = 0, after = 0 }: SearchQuery): CompiledQuery {
  if (typeof pattern === 'string') {
    return { isMatch: (line) => line.includes(pattern), required: needleOf(pattern), before, after }
  }
  // The g and y flags make a RegExp remember where it stopped, which must not leak from line to line.
  const stateless = new RegExp(pattern.source, pattern.flags.replace(/[gy]/g, ''))
  const required = pattern.flags.includes('i') ? '' : literalPrefix(pattern.source)
  return {
    isMatch: (line) => stateless.test(line),
    required: needleOf(required),
    before,
    after,
  }
}

/** Whether a file is worth a closer look. Most are not, and this is quick to say so. */
export function mayMatch(bytes: Uint8Array, { required }: CompiledQuery): boolean {
  return required === null || contains(bytes, required)
}

/** Whether bytes are not text: a NUL byte near the start, as other searchers tell. */
export function isBinary(bytes: Uint8Array): boolean {
  return bytes.subarray(0, BINARY_PROBE_BYTES).includes(0)
}

/** The matching lines of one file; none if it is binary. */
export function* matchesIn(path: string, bytes: Uint8Array, query: CompiledQuery): Generator<Match> {
  const { isMatch, before, after } = query
  if (!mayMatch(bytes, query)) return
  if (isBinary(bytes)) return
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

/** The lines of a text file, without their ends; a newline at the very end starts no further line. */
export function linesOf(bytes: Uint8Array): string[] {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8')
  const lines = text.split('\n')
  if (lines.at(-1) === '') lines.pop()
  return text.includes('\r') ? lines.map((line) => (line.endsWith('\r') ? line.slice(0, -1) : line)) : lines
}

/** The plain characters every match of a pattern starts with: up to its first special one, or none if unsure. */
function literalPrefix(source: string): string {
  if (source.includes('|')) return ''
  const plain = source.match(/^[^\\^$.*+?()[\]{}]*/)?.[0] ?? ''
  const next = source[plain.length]
  const isOptional = next === '*' || next === '?' || next === '{'
  return isOptional ? plain.slice(0, -1) : plain
}
