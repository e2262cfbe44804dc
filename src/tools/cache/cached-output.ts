import { randomBytes } from 'node:crypto'
import { assertContextName } from '../../access/index.ts'
import { child, split } from '../../vfs/index.ts'
import { toUri } from '../uri.ts'

/** Directory of cached outputs, with one directory for each context. */
export const TOOL_CACHE = '/sys/tool_cache'

const UNIQUE_BYTES = 8
const MAX_TOOL_NAME_LENGTH = 64
const ID = /^(?<tool>.+)_[0-9a-f]{16}$/

/** A cached output. */
export interface CachedOutput {
  readonly uri: string
  readonly path: string
  readonly context: string
  /** Unique id that contains the tool's name. */
  readonly id: string
  readonly tool: string
  readonly bytes: number
  readonly time: Date
}

/** Creates an id that is unique across processes. */
export function createOutputId(tool: string): string {
  const name = tool.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, MAX_TOOL_NAME_LENGTH)
  return `${name}_${randomBytes(UNIQUE_BYTES).toString('hex')}`
}

/** Returns the directory of a context, or of all. EINVAL for an invalid context. */
export function getCacheDirectory(context?: string): string {
  return context === undefined ? TOOL_CACHE : child(TOOL_CACHE, assertContextName(context))
}

/** Parses the path of a cached output; undefined for a foreign file. */
export function parseCachedOutput(path: string, bytes: number, time: Date): CachedOutput | undefined {
  const [context, id, ...rest] = split(path.slice(TOOL_CACHE.length))
  const tool = ID.exec(id ?? '')?.groups?.['tool']
  if (context === undefined || id === undefined || tool === undefined || rest.length > 0) return undefined
  return { uri: toUri(path), path, context, id, tool, bytes, time }
}
