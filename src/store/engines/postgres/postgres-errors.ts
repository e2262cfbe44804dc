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

/** Next steps for the person, by SQLSTATE. */
const hintsByState: Readonly<Record<string, string>> = {
  '28000': 'check the user of the URL, and what the server allows it in pg_hba.conf',
  '28P01': 'check PGPASSWORD or ~/.pgpass',
  '3D000': 'create it with createdb, or correct the name',
  '42501': 'its owner can grant the rights that docs/guide/shared-homes.md lists under Roles',
}

/** A failure before the server has seen the user, by what the client reports. */
interface ClientFailure {
  readonly pattern: RegExp
  readonly code: ErrorCode
  /** In place of the client's message. */
  readonly message?: string
  readonly hint: string
}

const CLIENT_FAILURES: readonly ClientFailure[] = [
  {
    pattern: /client password must be/,
    code: 'EACCES',
    message: 'it wants a password',
    hint: 'set PGPASSWORD, or add it to ~/.pgpass',
  },
  {
    pattern: /does not support SSL/,
    code: 'EUNAVAILABLE',
    hint: 'configure TLS there, or add sslmode=disable to the URL if nobody else can read the network',
  },
  {
    pattern: /certificate|CERT_/i,
    code: 'EUNAVAILABLE',
    hint: 'name the certificate of its authority with sslrootcert=FILE in the URL, and the host as the certificate does',
  },
]

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
  const { code, message, hint } = describeFailure(cause)
  const detail = `the database ${label} failed: ${message}${hint === undefined ? '' : `; ${hint}`}`
  return new VfsError(code, label, { op, detail })
}

function describeFailure(cause: unknown): { code: ErrorCode; message: string; hint?: string | undefined } {
  const message = describeCause(cause)
  const state = getSqlState(cause)
  if (state !== undefined && codesByState[state] !== undefined)
    return { code: codesByState[state], message, hint: hintsByState[state] }
  if (!isUnreachable(cause)) return { code: 'EIO', message }
  const failure = state === undefined ? findClientFailure(cause) : undefined
  if (failure === undefined)
    return { code: 'EUNAVAILABLE', message, hint: 'check that it runs and can be reached' }
  // Node adds an option of its own after a semicolon.
  return { ...failure, message: failure.message ?? message.replace(/;.*/s, '') }
}

function findClientFailure(cause: unknown): ClientFailure | undefined {
  const text = `${getCode(cause) ?? ''} ${describeCause(cause)}`
  return CLIENT_FAILURES.find(({ pattern }) => pattern.test(text))
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
