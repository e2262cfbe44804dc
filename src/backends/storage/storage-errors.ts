import { type ErrorCode, errorCodes, isVfsError, VfsError } from '../../vfs/index.ts'

/** Codes that need no explanation by the storage. */
const SELF_EXPLANATORY_CODES: ReadonlySet<ErrorCode> = new Set([
  'ENOENT',
  'EEXIST',
  'EISDIR',
  'ENOTDIR',
  'ENOTEMPTY',
])

/** Calls a storage, and converts its failures to `VfsError`s. */
export async function callStorage<T>(op: string, path: string, call: () => Promise<T>): Promise<T> {
  try {
    return await call()
  } catch (error) {
    throw toVfsError(op, path, error)
  }
}

function toVfsError(op: string, path: string, error: unknown): VfsError {
  if (isVfsError(error)) return error
  const code = findErrorCode(error) ?? 'EIO'
  if (SELF_EXPLANATORY_CODES.has(code)) return new VfsError(code, path, { op, cause: error })
  const detail = `the storage failed: ${error instanceof Error ? error.message : String(error)}`
  return new VfsError(code, path, { op, detail, cause: error })
}

function findErrorCode(error: unknown): ErrorCode | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined
  const { code } = error
  return codes.find((known) => known === code)
}

const codes = Object.keys(errorCodes).filter((code): code is ErrorCode => code in errorCodes)
