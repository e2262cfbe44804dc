import {
  ListResourcesRequestSchema,
  ListResourceTemplatesRequestSchema,
  ReadResourceRequestSchema,
  SubscribeRequestSchema,
  UnsubscribeRequestSchema,
} from '@modelcontextprotocol/sdk/types.js'
import type { McpFeature } from './mcp-feature.ts'
import type { ResourceSource } from './resource-source.ts'
import { Subscriptions } from './subscriptions.ts'

/** Serves resources, and notifies each session of changes it subscribed to. */
export function createResourcesFeature(source: ResourceSource): McpFeature {
  return {
    capabilities: { resources: { subscribe: true, listChanged: true } },
    attach(session) {
      const { server } = session
      const subscriptions = new Subscriptions(source, session)
      server.setRequestHandler(ListResourcesRequestSchema, async ({ params }, { signal }) => {
        subscriptions.followList()
        return { ...(await source.list(params?.cursor, signal)) }
      })
      server.setRequestHandler(ListResourceTemplatesRequestSchema, () => ({
        resourceTemplates: [...source.templates()],
      }))
      server.setRequestHandler(ReadResourceRequestSchema, async ({ params }, { signal }) => ({
        contents: await source.read(params.uri, signal),
      }))
      server.setRequestHandler(SubscribeRequestSchema, ({ params }) => {
        subscriptions.add(params.uri)
        return {}
      })
      server.setRequestHandler(UnsubscribeRequestSchema, ({ params }) => {
        subscriptions.remove(params.uri)
        return {}
      })
    },
  }
}
