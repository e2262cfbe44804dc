import {
  ProtocolError,
  ProtocolErrorCode,
  type ReadResourceResult,
  type Resource,
} from '@modelcontextprotocol/client'
import { isVfsError, VfsError } from '../../vfs/index.ts'
import { listPages } from './list-pages.ts'
import type { McpConnection } from './mcp-connection.ts'

/** Error code of servers for a missing resource. */
const RESOURCE_NOT_FOUND = -32002

/** The resources of a server. */
export class McpResources {
  readonly #connection: McpConnection

  constructor(connection: McpConnection) {
    this.#connection = connection
  }

  list(signal: AbortSignal): Promise<readonly Resource[]> {
    return this.#connection.use(signal, async (client, options) => {
      if (client.getServerCapabilities()?.resources === undefined) return []
      return listPages('/resources', async (cursor) => {
        // Not listResources(), which would fetch all pages without these limits.
        const request = { method: 'resources/list' as const, params: cursor }
        const { resources, nextCursor } = await client.request(request, options)
        return { items: resources, nextCursor }
      })
    })
  }

  /** Reads a resource by its URI, plain or encoded as one name (`file%3A%2F%2F%2Fa`). ENOENT if there is none. */
  async read(path: string, name: string, signal: AbortSignal): Promise<ReadResourceResult['contents']> {
    const uri = await this.#resolveUri(decodeName(path, name), signal)
    try {
      const { contents } = await this.#connection.use(signal, (client, options) =>
        client.readResource({ uri }, options),
      )
      return contents
    } catch (error) {
      throw isNotFound(error) ? createNotFoundError(path, uri) : error
    }
  }

  /** Restores the two slashes of a URI that a path reduced to one, by comparing with the server's list. */
  async #resolveUri(given: string, signal: AbortSignal): Promise<string> {
    if (given.includes('://')) return given
    const resources = await this.list(signal)
    const matching = resources.find(({ uri }) => uri === given || uri.replaceAll(/\/+/g, '/') === given)
    return matching?.uri ?? given.replace(/^([a-z][a-z0-9+.-]*):\/(?!\/)/i, '$1://')
  }
}

function decodeName(path: string, name: string): string {
  try {
    return decodeURIComponent(name)
  } catch {
    throw new VfsError('EINVAL', path, { op: 'open', detail: 'write a percent sign as %25' })
  }
}

function isNotFound(error: unknown): boolean {
  if (!isVfsError(error, 'EIO') || !(error.cause instanceof ProtocolError)) return false
  const { code } = error.cause
  return code === RESOURCE_NOT_FOUND || code === ProtocolErrorCode.InvalidParams
}

function createNotFoundError(path: string, uri: string): VfsError {
  return new VfsError('ENOENT', path, { op: 'open', detail: `the server has no resource '${uri}'` })
}
