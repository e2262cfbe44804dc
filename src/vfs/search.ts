import { decodeUtf8 } from './bytes.ts'
import { contains, createNeedle, type Needle } from './needle.ts'
import type { LinePattern, Match, SearchQuery } from './protocols.ts'
import { Yielder } from './yielder.ts'

/** Number of leading bytes in which a NUL byte marks a file as binary. */
const BINARY_PROBE_BYTES = 8000

/** Length limit of the required literal; enough to rule out most files. */
const MAX_REQUIRED_CHARACTERS = 32

/** Cost of a line in addition to its characters. */
const STEPS_PER_LINE = 16

/** A query compiled for many files. */
export interface CompiledQuery {
  readonly isMatch: (line: string) => boolean
  /** Bytes that every matching file contains, if the pattern implies any. Other files are not decoded. */
  readonly required: Needle | null
  readonly before: number
  readonly after: number
  readonly stepsPerCharacter: number
  /** Shared by the whole search, over all files. */
  readonly yielder: Yielder
}

/** Compiles a query once for many files. */
export function compileQuery({ pattern, before = 0, after = 0 }: SearchQuery): CompiledQuery {
  if (typeof pattern === 'string') {
    const isMatch = (line: string) => line.includes(pattern)
    return {
      isMatch,
      required: createRequiredNeedle(pattern),
      before,
      after,
      stepsPerCharacter: 1,
      yielder: new Yielder(),
    }
  }
  const stateless = pattern instanceof RegExp ? toStatelessPattern(pattern) : pattern
  const required = pattern.flags.includes('i') ? '' : findRequiredLiteral(pattern.source)
  return {
    isMatch: (line) => stateless.test(line),
    required: createRequiredNeedle(required),
    before,
    after,
    stepsPerCharacter: pattern instanceof RegExp ? 1 : (pattern.stepsPerCharacter ?? 1),
    yielder: new Yielder(),
  }
}

/** Reports whether a file can match, by its required bytes. */
export function mayMatch(bytes: Uint8Array, { required }: CompiledQuery): boolean {
  return required === null || contains(bytes, required)
}

/** Reports whether bytes are binary: a NUL byte near the start. */
export function isBinary(bytes: Uint8Array): boolean {
  return bytes.subarray(0, BINARY_PROBE_BYTES).includes(0)
}

/** Yields the matching lines of one file; none if it is binary. */
export function* findMatches(path: string, bytes: Uint8Array, query: CompiledQuery): Generator<Match> {
  for (const step of searchSteps(path, bytes, query)) if (step !== null) yield step
}

/** Yields matching lines as `findMatches` does, and null when the caller should yield to other work. */
export function* searchSteps(path: string, bytes: Uint8Array, query: CompiledQuery): Generator<Match | null> {
  const { isMatch, before, after, stepsPerCharacter, yielder } = query
  if (!mayMatch(bytes, query)) return
  if (isBinary(bytes)) return
  const lines = splitLines(bytes)
  for (const [index, text] of lines.entries()) {
    if (yielder.shouldYield(text.length * stepsPerCharacter + STEPS_PER_LINE)) yield null
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

/** Returns the lines of a text without line ends. A final newline starts no further line. */
export function splitLines(bytes: Uint8Array): string[] {
  const text = decodeUtf8(bytes)
  const lines = text.split('\n')
  if (lines.at(-1) === '') lines.pop()
  return text.includes('\r') ? lines.map((line) => (line.endsWith('\r') ? line.slice(0, -1) : line)) : lines
}

function createRequiredNeedle(literal: string): Needle | null {
  return createNeedle(literal.slice(0, MAX_REQUIRED_CHARACTERS))
}

/** Removes the g and y flags, with which a RegExp would carry its position from line to line. */
function toStatelessPattern({ source, flags }: RegExp): LinePattern {
  return new RegExp(source, flags.replace(/[gy]/g, ''))
}

/** Groups: zero-width (1), wildcards (2) or plain characters (3); then the quantifier. */
const PATTERN_PART = /(?:(\^|\$|\\[bB])|(\.|\\[dDsSwW])|([^\\^$.*+?()[\]{}|]+))([*+?{])?/y

/** Returns the longest literal that every match contains, or '' if the pattern is too complex to be sure. */
function findRequiredLiteral(source: string): string {
  if (source.includes('|')) return ''
  let longest = ''
  let run = ''
  PATTERN_PART.lastIndex = 0
  for (let part = PATTERN_PART.exec(source); part !== null; part = PATTERN_PART.exec(source)) {
    const [, border, , plain = '', repeat] = part
    // Only the last character is repeated, and with `+` it is there at least once.
    run += repeat === undefined || repeat === '+' ? plain : plain.slice(0, -1)
    if (run.length > longest.length) longest = run
    if (repeat === '{') break
    if (border === undefined && (plain === '' || repeat !== undefined)) run = ''
  }
  return longest
}
