import { type ErrorCode, isVfsError, VfsError } from '../../vfs/index.ts'
import { ResponseTooLargeError } from './limit-responses.ts'
import { SilentServerError } from './limit-silence.ts'
import type { S3Call } from './s3-call.ts'

/** Error names that are more specific than their status. */
const codesByName: Readonly<Record<string, ErrorCode>> = {
  NoSuchKey: 'ENOENT',
  NotFound: 'ENOENT',
  // Not ENOENT: a missing bucket must not look like an empty one.
  NoSuchBucket: 'EIO',
  KeyTooLongError: 'ENAMETOOLONG',
  EntityTooLarge: 'EFBIG',
  QuotaExceeded: 'ENOSPC',
  CredentialsProviderError: 'EACCES',
  TimeoutError: 'ETIMEDOUT',
  RequestTimeout: 'ETIMEDOUT',
}

const codesByStatus: Readonly<Record<number, ErrorCode>> = {
  401: 'EACCES',
  403: 'EACCES',
  404: 'ENOENT',
  409: 'ECONFLICT',
  412: 'ECONFLICT',
  416: 'EINVAL',
  429: 'EUNAVAILABLE',
  501: 'ENOTSUP',
  502: 'EUNAVAILABLE',
  503: 'EUNAVAILABLE',
  504: 'EUNAVAILABLE',
  507: 'ENOSPC',
}

/** Codes of a failed or broken connection. */
const UNREACHABLE = /^(?:ECONN|ENOTFOUND|EAI_|EHOST|ENET|EPIPE|ERR_STREAM_PREMATURE_CLOSE)/

const adviceByCode: Partial<Record<ErrorCode, (bucket: string) => string>> = {
  EACCES: (bucket) =>
    `check the credentials, and that they allow s3:ListBucket, s3:GetObject, s3:PutObject and s3:DeleteObject on '${bucket}'`,
  ECONFLICT: () => 'another writer changed the key meanwhile; read it and write again',
  EUNAVAILABLE: () => 'try again later; check the endpoint if the error persists',
  ETIMEDOUT: () => 'try again; check the endpoint if the error persists',
}

/** Converts an error of the SDK or of a response body to a `VfsError` with advice. */
export function toVfsError(error: unknown, { op, path, signal }: S3Call, bucket: string): unknown {
  if (signal?.aborted) return signal.reason
  if (isVfsError(error)) return error
  if (error instanceof ResponseTooLargeError) {
    const detail = `the S3 server of bucket '${bucket}' sent ${error.message}; check the endpoint`
    return new VfsError('EIO', path, { op, detail, cause: error })
  }
  if (error instanceof SilentServerError) {
    const detail = `the S3 server ${error.server} of bucket '${bucket}' does not answer; check that it runs and can be reached, then try again`
    return new VfsError('ETIMEDOUT', path, { op, detail, cause: error })
  }
  const code = toErrorCode(error)
  if (code === 'ENOENT') return new VfsError(code, path, { op, cause: error })
  const hint =
    getErrorName(error) === 'NoSuchBucket' ? 'create it, or correct the name' : adviceByCode[code]?.(bucket)
  const message = `S3 request to bucket '${bucket}' failed: ${formatError(error)}`
  return new VfsError(code, path, {
    op,
    detail: hint === undefined ? message : `${message}; ${hint}`,
    cause: error,
  })
}

/** Returns the HTTP status of a failure, if the SDK has one. */
export function getStatus(error: unknown): number | undefined {
  const metadata = getProperty(error, '$metadata')
  const status = getProperty(metadata, 'httpStatusCode')
  return typeof status === 'number' ? status : undefined
}

function toErrorCode(error: unknown): ErrorCode {
  const named = codesByName[getErrorName(error)]
  if (named !== undefined) return named
  const status = getStatus(error)
  if (status !== undefined) return codesByStatus[status] ?? 'EIO'
  return UNREACHABLE.test(String(getProperty(error, 'code'))) ? 'EUNAVAILABLE' : 'EIO'
}

function getErrorName(error: unknown): string {
  return String(getProperty(error, 'name'))
}

function formatError(error: unknown): string {
  const status = getStatus(error)
  const message = [getErrorName(error), getProperty(error, 'message') || getProperty(error, 'code')]
  const text = [...new Set(message.filter((word) => typeof word === 'string' && word !== ''))].join(': ')
  return status === undefined ? text : `${status} ${text}`
}

function getProperty(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined
}
