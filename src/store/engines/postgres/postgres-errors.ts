import { type ErrorCode, VfsError } from '../../../vfs/index.ts'
import { getErrorMessage } from '../engine-errors.ts'

/** Error codes by SQLSTATE, for failures that the caller can act on. */
const codesByState: Readonly<Record<string, ErrorCode>> = {
  // A read-only transaction, such as on a standby.
  '25006': 'EROFS',
  // A refused login, a wrong password.
  '28000': 'EACCES',
  '28P01': 'EACCES',
  // A database that does not exist.
  '3D000': 'ENOENT',
  // A missing privilege.
  '42501': 'EACCES',
  // A full disk.
  '53100': 'ENOSPC',
  // A statement that took longer than the server allows.
  '57014': 'ETIMEDOUT',
}

/** States of a statement that was rolled back: a deadlock, a serialization failure. */
const ROLLED_BACK_STATES = ['40P01', '40001']
/**
 * States of a prepared statement that the connection does not have, or has already: a pooler gave the program another
 * connection.
 */
const LOST_STATEMENT_STATES = ['26000', '42P05']
/** States of a server that is starting, is stopping, or has no free connection. */
const NOT_READY_STATES = ['57P03', '53300']

/**
 * Returns the SQLSTATE of a statement that the server rejected. Undefined if the connection broke, so that the
 * statement may have been done.
 */
export function getRejectionState(error: unknown): string | undefined {
  // FATAL closes the connection, and the transaction may have been committed before.
  return error instanceof Error && 'severity' in error && error.severity === 'ERROR'
    ? getSqlState(error)
    : undefined
}

/** Reports whether a statement certainly changed nothing and may succeed when it is sent again. */
export function isRolledBack(error: unknown): boolean {
  return ROLLED_BACK_STATES.includes(getRejectionState(error) ?? '')
}

/** Reports whether a pooler has lost a prepared statement, before anything was done. */
export function isLostStatement(error: unknown): boolean {
  return LOST_STATEMENT_STATES.includes(getRejectionState(error) ?? '')
}

/** Reports whether a failed connection attempt is worth another one: no server answered, or it is not ready. */
export function isUnreachable(error: unknown): boolean {
  const state = getSqlState(error)
  return state === undefined || NOT_READY_STATES.includes(state)
}

/**
 * Converts a failure of the server or the connection into a VfsError.
 * @param label the database's address without its password
 */
export function toPostgresError(op: string, label: string, cause: unknown): VfsError {
  if (cause instanceof VfsError) return cause
  const code = codesByState[getSqlState(cause) ?? ''] ?? (isUnreachable(cause) ? 'EUNAVAILABLE' : 'EIO')
  const hint = code === 'EUNAVAILABLE' ? '; check that it runs and can be reached' : ''
  const detail = `the database ${label} failed: ${describeCause(cause)}${hint}`
  return new VfsError(code, label, { op, detail })
}

/** Returns the SQLSTATE of an error that the server reported; undefined for errors of the connection. */
function getSqlState(error: unknown): string | undefined {
  return error instanceof Error && 'severity' in error ? getCode(error) : undefined
}

function getCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
}

/** Returns the message of a failure. A host with several addresses has one error for each of them. */
function describeCause(cause: unknown): string {
  if (cause instanceof AggregateError) return cause.errors.map(getErrorMessage).join(', ')
  return getErrorMessage(cause) || (getCode(cause) ?? 'the connection was closed')
}
