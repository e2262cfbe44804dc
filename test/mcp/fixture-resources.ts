import { ProtocolError, ProtocolErrorCode, type ReadResourceResult } from '@modelcontextprotocol/server'
import type { ResourceSource } from '../../src/mcp/index.ts'
import { PIXEL } from './fixture-content.ts'

const fixed: Readonly<Record<string, ReadResourceResult['contents'][number]>> = {
  'test://static-text': {
    uri: 'test://static-text',
    mimeType: 'text/plain',
    text: 'This is the content of the static text resource.',
  },
  'test://static-binary': { uri: 'test://static-binary', mimeType: 'image/png', blob: PIXEL },
  'test://watched-resource': { uri: 'test://watched-resource', mimeType: 'text/plain', text: 'Watched.' },
}

/** The resources of the conformance suite. */
export const fixtureResources: ResourceSource = {
  async list() {
    const resources = Object.values(fixed).map(({ uri, mimeType }) => ({
      uri,
      name: uri.slice('test://'.length),
      description: 'A resource of the conformance suite',
      ...(mimeType !== undefined && { mimeType }),
    }))
    return { resources }
  },

  templates: () => [{ uriTemplate: 'test://template/{id}/data', name: 'data', mimeType: 'application/json' }],

  async read(uri) {
    const found = fixed[uri]
    if (found !== undefined) return [found]
    const [, id] = /^test:\/\/template\/([^/]+)\/data$/.exec(uri) ?? []
    if (id === undefined)
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, `there is no resource ${uri}`)
    const text = JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` })
    return [{ uri, mimeType: 'application/json', text }]
  },

  assertKnown() {},

  async *changes() {},
}
