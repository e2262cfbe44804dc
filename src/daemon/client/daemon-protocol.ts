import { isVfsError, VfsError, type VfsErrorJson } from '../../vfs/index.ts'

/** Clients and daemons of different versions refuse each other. */
export const PROTOCOL_VERSION = 1
/** Limit of a request line. */
export const MAX_LINE_BYTES: number = 8 * 1024 * 1024

/** Request of a client. */
export interface DaemonRequest {
  readonly id: number
  readonly method: string
  readonly params: unknown
}

/** One response, or any number of events and their end. */
export type DaemonReply =
  | { readonly id: number | null; readonly result: unknown }
  | { readonly id: number | null; readonly error: VfsErrorJson }
  | { readonly id: number | null; readonly event: unknown }
  | { readonly id: number | null; readonly end: true }

/** Parses a line into a request, or a problem to return to its sender. */
export function parseRequest(
  line: string,
): DaemonRequest | { readonly id: number | null; readonly problem: VfsError } {
  const value = parseJson(line)
  if (typeof value !== 'object' || value === null) {
    return {
      id: null,
      problem: createRequestError('a request must be one line of JSON: {"v", "id", "method", "params"}'),
    }
  }
  const { v, id, method, params } = { v: null, id: null, method: null, params: {}, ...value }
  const known = typeof id === 'number' && Number.isSafeInteger(id) ? id : null
  if (v !== PROTOCOL_VERSION) return { id: known, problem: createVersionError(v) }
  if (known === null) return { id: null, problem: createRequestError("'id' must be a whole number") }
  if (typeof method !== 'string')
    return { id: known, problem: createRequestError("'method' must be the name of a method") }
  return { id: known, method, params }
}

/** Converts any thrown value to JSON for the protocol. */
export function toErrorJson(error: unknown): VfsErrorJson {
  if (isVfsError(error)) return error.toJSON()
  const detail = error instanceof Error ? error.message : String(error)
  // Errors of the configuration or the system have their own name or a code, and are meant for people.
  const isKnown = error instanceof Error && (error.name !== 'Error' || 'code' in error)
  return new VfsError(isKnown ? 'EINVAL' : 'EINTERNAL', '/', { op: 'daemon', detail }).toJSON()
}

/** Creates the error for an invalid request. */
export function createRequestError(detail: string): VfsError {
  return new VfsError('EINVAL', '/', { op: 'request', detail })
}

function createVersionError(version: unknown): VfsError {
  const theirs = version === null ? 'none' : JSON.stringify(version).slice(0, 20)
  return createRequestError(
    `the daemon uses protocol version ${PROTOCOL_VERSION}, the client ${theirs}; run coppice daemon stop, and the next command starts a matching daemon`,
  )
}

function parseJson(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}
