import type { ServerResponse } from 'node:http'
import type { HttpRefusal } from '../../http/index.ts'
import { type ErrorCode, isVfsError } from '../../vfs/index.ts'
import type { WebErrorBody } from '../../web-api/index.ts'
import type { PageFile } from './page-files.ts'
import { securityHeaders } from './response-headers.ts'

const STATUSES: Partial<Record<ErrorCode, number>> = {
  ENOENT: 404,
  EACCES: 403,
  EPERM: 403,
  EROFS: 403,
  EEXIST: 409,
  ECONFLICT: 409,
  EFBIG: 413,
  EUNAVAILABLE: 503,
  ETIMEDOUT: 504,
  EIO: 500,
  EINTERNAL: 500,
}
const JSON_TYPE = 'application/json; charset=utf-8'

export function sendJson(response: ServerResponse, status: number, json: string): void {
  const body = Buffer.from(json)
  const headers = { ...securityHeaders, 'content-type': JSON_TYPE, 'content-length': body.length }
  response.writeHead(status, headers).end(body)
}

export function sendFile(response: ServerResponse, { type, bytes }: PageFile): void {
  const headers = { ...securityHeaders, 'content-type': type, 'content-length': bytes.length }
  response.writeHead(200, headers).end(bytes)
}

/** Refuses a request, and closes its connection: the rest of it must not be read as another request. */
export function sendRefusal(response: ServerResponse, { status, message, headers = {} }: HttpRefusal): void {
  const error: WebErrorBody = { error: { code: status === 404 ? 'ENOENT' : 'EACCES', message } }
  const body = Buffer.from(JSON.stringify(error))
  const all = { ...securityHeaders, ...headers, 'content-type': JSON_TYPE, 'content-length': body.length }
  response.writeHead(status, { ...all, connection: 'close' }).end(body)
}

/** Errors that JavaScript throws where our code is wrong. */
const PROGRAM_ERRORS = [TypeError, RangeError, ReferenceError, SyntaxError, URIError] as const

/**
 * Converts an error to its status and body. Does not describe a fault in our code: its message may quote anything, such
 * as the content of a file. An `Error` with neither a name nor a code counts as one.
 */
export function toErrorResponse(error: unknown): { readonly status: number; readonly body: WebErrorBody } {
  if (isVfsError(error)) {
    const { code, message, path } = error
    return { status: STATUSES[code] ?? 400, body: { error: { code, message, path } } }
  }
  const isKnown =
    error instanceof Error && !isProgramError(error) && (error.name !== 'Error' || 'code' in error)
  const message = isKnown ? error.message : 'the request failed; see the log of the daemon'
  return { status: isKnown ? 400 : 500, body: { error: { code: isKnown ? 'EINVAL' : 'EINTERNAL', message } } }
}

function isProgramError(error: Error): boolean {
  return PROGRAM_ERRORS.some((kind) => error instanceof kind)
}
