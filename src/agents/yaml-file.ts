import { type Document, isMap, isScalar, LineCounter, parseDocument } from 'yaml'
import type { z } from 'zod'
import { VfsError } from '../vfs/index.ts'

type Keys = readonly (string | number)[]

/** Location of a YAML text for messages: the file, and the number of lines above the text. */
export interface YamlLocation {
  readonly path: string
  readonly linesAbove?: number
}

/** Parses YAML by a schema. EINVAL with the file, the line, the problem and the valid keys. */
export function parseYaml<Value>(
  text: string,
  schema: z.ZodType<Value>,
  known: readonly string[],
  location: YamlLocation,
): Value {
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines, schema: 'core', prettyErrors: false })
  const [error] = document.errors
  if (error !== undefined)
    throw createYamlError(location, lines.linePos(error.pos[0]).line, stripQuotedPart(error.message))
  const result = schema.safeParse(readValues(document, location))
  if (result.success) return result.data
  const [issue] = result.error.issues
  if (issue === undefined) throw createYamlError(location, 1, 'the content is invalid')
  const keys = issue.path.map((key) => (typeof key === 'number' ? key : String(key)))
  const [stranger] = issue.code === 'unrecognized_keys' ? issue.keys : []
  const at = stranger === undefined ? keys : [...keys, stranger]
  throw createYamlError(
    location,
    findLine(document, lines, at),
    formatIssue(issue, at, known, document.hasIn(keys)),
  )
}

/** Refuses aliases that expand without bound. */
function readValues(document: Document, location: YamlLocation): unknown {
  try {
    return document.toJS({ maxAliasCount: 20 }) ?? {}
  } catch (error) {
    throw createYamlError(
      location,
      1,
      stripQuotedPart(error instanceof Error ? error.message : String(error)),
    )
  }
}

function formatIssue(
  issue: z.core.$ZodIssue,
  keys: Keys,
  known: readonly string[],
  isThere: boolean,
): string {
  const key = `'${keys.join('.')}'`
  if (issue.code === 'unrecognized_keys') {
    return `there is no key ${key}${keys.length === 1 ? `; known: ${known.join(', ')}` : ''}`
  }
  if (keys.length === 0) return `the file must have keys and values; known keys: ${known.join(', ')}`
  if (!isThere) return `${key} is missing`
  return `${key}: ${issue.message.replace(/^Invalid (?:input|option): /, '')}`
}

/** Returns the line of a key, or of its nearest parent. */
function findLine(document: Document, lines: LineCounter, keys: Keys): number {
  for (let length = keys.length; length > 0; length--) {
    const parent = length === 1 ? document.contents : document.getIn(keys.slice(0, length - 1), true)
    const last = keys[length - 1]
    const pair = isMap(parent)
      ? parent.items.find(({ key }) => isScalar(key) && key.value === last)
      : undefined
    const node = pair?.key ?? document.getIn(keys.slice(0, length), true)
    if (hasRange(node)) return lines.linePos(node.range[0]).line
  }
  return 1
}

function hasRange(node: unknown): node is { readonly range: readonly [number, number, number] } {
  return typeof node === 'object' && node !== null && 'range' in node && Array.isArray(node.range)
}

export function createYamlError(
  { path, linesAbove = 0 }: YamlLocation,
  line: number,
  problem: string,
): VfsError {
  return new VfsError('EINVAL', path, { op: 'load', detail: `line ${line + linesAbove}: ${problem}` })
}

/** Removes the quoted part of the file from a message, since it may be a secret key. */
function stripQuotedPart(message: string): string {
  return message.split(/: |\n/)[0] ?? ''
}
