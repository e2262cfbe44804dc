import type { Document, LineCounter } from 'yaml'
import { VfsError } from '../../../vfs/index.ts'
import { listScriptKeys, type ScriptEntry, type ScriptText, scriptSchema } from './script.ts'

type Keys = readonly PropertyKey[]

/** An entry with its line in the file, counted from 1. */
export interface LocatedScriptEntry extends ScriptEntry {
  readonly line: number
}

export interface ModelScript {
  readonly file: string
  readonly shared: boolean
  readonly entries: readonly LocatedScriptEntry[]
}

/** Parsed content of a file with the line of each value. */
interface ParsedSource {
  readonly value: unknown
  findLine(keys: Keys): number
}

/**
 * Parses a script: YAML with a list of entries, or with `shared` and `script`; or one JSON entry a line.
 * EINVAL with the line of the problem.
 */
export async function parseScript(file: string, text: string): Promise<ModelScript> {
  const isJsonLines = /\.(?:ndjson|jsonl)$/.test(file)
  const source = isJsonLines ? readJsonLines(file, text) : await readYaml(file, text)
  const isList = Array.isArray(source.value)
  // Problems are located in the long form; the short one has no key above its entries.
  const findLine = (keys: Keys) => source.findLine(isList ? keys.slice(1) : keys)
  const { shared, script } = validateScript(file, isList ? { script: source.value } : source.value, findLine)
  return {
    file,
    shared,
    entries: script.map((entry, index) => ({ ...entry, line: findLine(['script', index]) })),
  }
}

function validateScript(file: string, value: unknown, findLine: (keys: Keys) => number): ScriptText {
  const result = scriptSchema.safeParse(value)
  if (result.success) return result.data
  const { issues } = result.error
  const unknown = issues.find(({ code }) => code === 'unrecognized_keys')
  if (unknown?.code === 'unrecognized_keys') throw createKeyError(file, unknown, findLine)
  const [issue] = issues
  const keys = issue?.path ?? []
  const keyPath = keys.filter((key) => typeof key === 'string' && key !== 'script').join('.')
  const message = issue?.message ?? 'not a valid script'
  throw createScriptError(file, findLine(keys), keyPath === '' ? message : `'${keyPath}': ${message}`)
}

/** Creates the error for a key that a script does not have: it explains why another key is missing. */
function createKeyError(
  file: string,
  { keys, path }: { readonly keys: readonly string[]; readonly path: Keys },
  findLine: (keys: Keys) => number,
): VfsError {
  const [key = ''] = keys
  const known = listScriptKeys(path)
  const hint = known === undefined ? '' : `; there are: ${known.join(', ')}`
  return createScriptError(file, findLine([...path, key]), `there is no key '${key}'${hint}`)
}

async function readYaml(file: string, text: string): Promise<ParsedSource> {
  const { LineCounter, parseDocument } = await import('yaml')
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false })
  const [error] = document.errors
  if (error !== undefined) throw createScriptError(file, lines.linePos(error.pos[0]).line, error.message)
  return { value: document.toJS(), findLine: (keys) => findYamlLine(document, lines, keys) }
}

/** Returns the line of a value, or of its nearest parent. */
function findYamlLine(document: Document, lines: LineCounter, keys: Keys): number {
  for (let length = keys.length; length > 0; length--) {
    const node = document.getIn(keys.slice(0, length), true)
    const start = getRange(node)?.[0]
    if (typeof start === 'number') return lines.linePos(start).line
  }
  return 1
}

function getRange(node: unknown): readonly unknown[] | undefined {
  const range = typeof node === 'object' && node !== null && 'range' in node ? node.range : undefined
  return Array.isArray(range) ? range : undefined
}

function readJsonLines(file: string, text: string): ParsedSource {
  const lines = text
    .split('\n')
    .flatMap((line, index) => (line.trim() === '' ? [] : [{ line, number: index + 1 }]))
  const value = lines.map(({ line, number }) => {
    try {
      return JSON.parse(line)
    } catch (error) {
      throw createScriptError(file, number, error instanceof Error ? error.message : String(error))
    }
  })
  return { value, findLine: ([index]) => lines[Number(index)]?.number ?? 1 }
}

function createScriptError(file: string, line: number, problem: string): VfsError {
  return new VfsError('EINVAL', file, { op: 'open', detail: `line ${line}: ${problem}` })
}
