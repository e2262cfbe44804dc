import { ErrorCode, McpError } from '@modelcontextprotocol/sdk/types.js'
import { fromUri } from '../../tools/index.ts'
import { isVfsError } from '../../vfs/index.ts'

/** The protocol's code for a missing resource; the SDK has no name for it. */
const RESOURCE_NOT_FOUND = -32002

/** Returns the path of a resource's URI. McpError. */
export function parseResourceUri(uri: string): string {
  try {
    return fromUri(uri)
  } catch (error) {
    throw toProtocolError(uri, error)
  }
}

/** Converts an error to the protocol's: a missing resource is not found, a bad request is invalid. */
export function toProtocolError(uri: string, error: unknown): unknown {
  if (!isVfsError(error)) return error
  if (error.code === 'ENOENT' || error.code === 'ENOTDIR') {
    const why = error.detail === undefined ? '' : `: ${error.detail}`
    return new McpError(RESOURCE_NOT_FOUND, `there is no resource ${uri}${why}`, { uri })
  }
  const code = error.code === 'EIO' ? ErrorCode.InternalError : ErrorCode.InvalidParams
  return new McpError(code, error.message, { uri })
}
