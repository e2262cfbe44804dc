import { type ErrorCode, VfsError } from '../../../vfs/index.ts'
import { getErrorMessage } from '../engine-errors.ts'

/** Codes of failures that the caller can act on, by PostgreSQL's state. */
const codesByState: Readonly<Record<string, ErrorCode>> = {
  '25006': 'EROFS',
  '28000': 'EACCES',
  '28P01': 'EACCES',
  '3D000': 'ENOENT',
  '42501': 'EACCES',
  '53100': 'ENOSPC',
  '53300': 'EUNAVAILABLE',
  '57014': 'ETIMEDOUT',
}

/** States of a statement that changed nothing and may be sent again: a deadlock, a serialization failure. */
const RETRY_STATES = ['40P01', '40001']
/** States of an unnamed or unknown prepared statement: a pooler gave this statement to another connection. */
const STATEMENT_STATES = ['26000', '42P05']
/** States of a server that starts, stops or has no connection left. */
const NOT_READY_STATES = ['57P03', '53300']

/** Returns the state of an error that ended a statement; undefined if the connection broke and its outcome is unknown. */
export function getErrorState(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error) || !('severity' in error)) return undefined
  // After FATAL the connection is closed, also where the transaction may have ended before.
  return error.severity === 'ERROR' ? String(error.code) : undefined
}

/** Reports whether a statement without an outcome may be sent again. */
export function isTransient(error: unknown): boolean {
  return RETRY_STATES.includes(getErrorState(error) ?? '')
}

/** Reports whether a pooler has lost a prepared statement, before anything was done. */
export function isLostStatement(error: unknown): boolean {
  return STATEMENT_STATES.includes(getErrorState(error) ?? '')
}

/** Reports whether a failed connection attempt is worth another one. */
export function isUnreachable(error: unknown): boolean {
  const code = getCode(error)
  return code === undefined || !/^[0-9A-Z]{5}$/.test(code) || NOT_READY_STATES.includes(code)
}

/** Converts a failure into an error without the address's password. */
export function toPostgresError(op: string, label: string, cause: unknown): VfsError {
  if (cause instanceof VfsError) return cause
  const state = getCode(cause) ?? ''
  const isSql = /^[0-9A-Z]{5}$/.test(state)
  const code = codesByState[state] ?? (isSql && !NOT_READY_STATES.includes(state) ? 'EIO' : 'EUNAVAILABLE')
  const next = code === 'EUNAVAILABLE' ? '; check that it runs and can be reached' : ''
  const detail = `the database ${label} failed: ${describeCause(cause)}${next}`
  return new VfsError(code, label, { op, detail })
}

function getCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
}

/** An attempt at several addresses of a host has one error for each, and no message of its own. */
function describeCause(cause: unknown): string {
  if (cause instanceof AggregateError) return cause.errors.map(getErrorMessage).join(', ')
  return getErrorMessage(cause) || (getCode(cause) ?? 'the connection was closed')
}
