import { type Document, isMap, isScalar, LineCounter, parseDocument } from 'yaml'
import type { z } from 'zod'
import { VfsError } from '../vfs/index.ts'

const MAX_ALIASES = 20

type Keys = readonly (string | number)[]

/** File of a YAML text and the number of lines above it there, for messages. */
export interface YamlLocation {
  readonly path: string
  readonly linesAbove?: number
}

/**
 * Parses YAML by a schema. EINVAL with the file, the line and the problem.
 * @param validKeys keys at the top, which the error of an unknown one names
 */
export function parseYaml<Value>(
  text: string,
  schema: z.ZodType<Value>,
  validKeys: readonly string[],
  location: YamlLocation,
): Value {
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines, schema: 'core', prettyErrors: false })
  const [error] = document.errors
  if (error !== undefined)
    throw createYamlError(location, lines.linePos(error.pos[0]).line, cutQuotedText(error.message))
  const result = schema.safeParse(toValues(document, location))
  if (result.success) return result.data
  const [issue] = result.error.issues
  if (issue === undefined) throw createYamlError(location, 1, 'the content is invalid')
  const keys = issue.path.map((key) => (typeof key === 'number' ? key : String(key)))
  const [unknownKey] = issue.code === 'unrecognized_keys' ? issue.keys : []
  const keyPath = unknownKey === undefined ? keys : [...keys, unknownKey]
  throw createYamlError(
    location,
    findLine(document, lines, keyPath),
    formatIssue(issue, keyPath, validKeys, document.hasIn(keys)),
  )
}

/** Returns the values of a document. EINVAL if its aliases expand too far. */
function toValues(document: Document, location: YamlLocation): unknown {
  try {
    return document.toJS({ maxAliasCount: MAX_ALIASES }) ?? {}
  } catch (error) {
    throw createYamlError(location, 1, cutQuotedText(error instanceof Error ? error.message : String(error)))
  }
}

function formatIssue(
  issue: z.core.$ZodIssue,
  keys: Keys,
  validKeys: readonly string[],
  isPresent: boolean,
): string {
  const key = `'${keys.join('.')}'`
  if (issue.code === 'unrecognized_keys') {
    return `there is no key ${key}${keys.length === 1 ? `; valid keys: ${validKeys.join(', ')}` : ''}`
  }
  if (keys.length === 0) return `the file must have keys and values; valid keys: ${validKeys.join(', ')}`
  if (!isPresent) return `${key} is missing`
  return `${key}: ${issue.message.replace(/^Invalid (?:input|option): /, '')}`
}

/** Returns the line of a key, or of its nearest parent that is in the document; 1 if there is none. */
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

/** Creates the error of a line of a YAML text, counted from its beginning. */
export function createYamlError(
  { path, linesAbove = 0 }: YamlLocation,
  line: number,
  problem: string,
): VfsError {
  return new VfsError('EINVAL', path, { op: 'load', detail: `line ${line + linesAbove}: ${problem}` })
}

/** Cuts a message before the text that it quotes, which may be a secret. */
function cutQuotedText(message: string): string {
  return message.split(/: |\n/)[0] ?? ''
}
