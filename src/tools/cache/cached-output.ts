import { randomBytes } from 'node:crypto'
import { assertContextName } from '../../access/index.ts'
import { child, split } from '../../vfs/index.ts'
import { toUri } from '../uri.ts'

/** Where outputs are kept, a directory for each context. */
export const TOOL_CACHE = '/sys/tool_cache'

const UNIQUE_BYTES = 8
const MAX_TOOL_NAME_LENGTH = 64
const ID = /^(?<tool>.+)_[0-9a-f]{16}$/

/** An output that was kept. */
export interface CachedOutput {
  readonly uri: string
  readonly path: string
  readonly context: string
  /** Names the tool, and is unlike any other. */
  readonly id: string
  readonly tool: string
  readonly bytes: number
  readonly time: Date
}

/** An id that no other process gives at the same time. */
export function createOutputId(tool: string): string {
  const name = tool.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, MAX_TOOL_NAME_LENGTH)
  return `${name}_${randomBytes(UNIQUE_BYTES).toString('hex')}`
}

/** The directory of a context, or of all of them. EINVAL for what can be no context. */
export function getCacheDirectory(context?: string): string {
  return context === undefined ? TOOL_CACHE : child(TOOL_CACHE, assertContextName(context))
}

/** What is kept at a path; undefined if it is none of ours, such as a file that lies beside the contexts. */
export function parseCachedOutput(path: string, bytes: number, time: Date): CachedOutput | undefined {
  const [context, id, ...below] = split(path.slice(TOOL_CACHE.length))
  const tool = ID.exec(id ?? '')?.groups?.['tool']
  if (context === undefined || id === undefined || tool === undefined || below.length > 0) return undefined
  return { uri: toUri(path), path, context, id, tool, bytes, time }
}
