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
      session.onListen((filter, signal) => subscriptions.listen(filter, signal))
      server.setRequestHandler('resources/list', async ({ params }, { mcpReq }) => {
        subscriptions.followList()
        return { ...(await source.list(params?.cursor, mcpReq.signal)) }
      })
      server.setRequestHandler('resources/templates/list', () => ({
        resourceTemplates: [...source.templates()],
      }))
      server.setRequestHandler('resources/read', async ({ params }, { mcpReq }) => ({
        contents: await source.read(params.uri, mcpReq.signal),
      }))
      server.setRequestHandler('resources/subscribe', ({ params }) => {
        subscriptions.add(params.uri)
        return {}
      })
      server.setRequestHandler('resources/unsubscribe', ({ params }) => {
        subscriptions.remove(params.uri)
        return {}
      })
    },
  }
}
