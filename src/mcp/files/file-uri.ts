import { ErrorCode, McpError } from '@modelcontextprotocol/sdk/types.js'
import { fromUri } from '../../tools/index.ts'
import { isVfsError } from '../../vfs/index.ts'

/** What the protocol says of a resource that is not there; the SDK has no name for it. */
const RESOURCE_NOT_FOUND = -32002

/** The path behind a resource's URI. McpError. */
export function parseResourceUri(uri: string): string {
  try {
    return fromUri(uri)
  } catch (error) {
    throw toProtocolError(uri, error)
  }
}

/** A failure as the protocol tells it: what is not there is not found, what cannot be asked for is invalid. */
export function toProtocolError(uri: string, error: unknown): unknown {
  if (!isVfsError(error)) return error
  if (error.code === 'ENOENT' || error.code === 'ENOTDIR') {
    const why = error.detail === undefined ? '' : `: ${error.detail}`
    return new McpError(RESOURCE_NOT_FOUND, `there is no resource ${uri}${why}`, { uri })
  }
  const code = error.code === 'EIO' ? ErrorCode.InternalError : ErrorCode.InvalidParams
  return new McpError(code, error.message, { uri })
}
