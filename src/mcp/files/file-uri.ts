import { ProtocolError, ProtocolErrorCode, ResourceNotFoundError } from '@modelcontextprotocol/server'
import { fromUri } from '../../tools/index.ts'
import { isVfsError } from '../../vfs/index.ts'

/** Returns the path of a resource's URI. ProtocolError if it is invalid. */
export function parseResourceUri(uri: string): string {
  try {
    return fromUri(uri)
  } catch (error) {
    throw toProtocolError(uri, error)
  }
}

/** Converts a VfsError to the protocol's: a missing resource is not found, any other is invalid, EIO is internal. */
export function toProtocolError(uri: string, error: unknown): unknown {
  if (!isVfsError(error)) return error
  if (error.code === 'ENOENT' || error.code === 'ENOTDIR') {
    const why = error.detail === undefined ? '' : `: ${error.detail}`
    return new ResourceNotFoundError(uri, `there is no resource ${uri}${why}`)
  }
  // Clients take an invalid parameter with nothing but a URI for a missing resource: the error's own code is beside it.
  const code = error.code === 'EIO' ? ProtocolErrorCode.InternalError : ProtocolErrorCode.InvalidParams
  return new ProtocolError(code, error.message, { uri, code: error.code })
}
