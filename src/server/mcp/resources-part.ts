import {
  ListResourcesRequestSchema,
  ListResourceTemplatesRequestSchema,
  ReadResourceRequestSchema,
  type ReadResourceResult,
  type Resource,
  type ResourceTemplate,
  SubscribeRequestSchema,
  UnsubscribeRequestSchema,
} from '@modelcontextprotocol/sdk/types.js'
import type { McpPart } from './part.ts'
import { Subscriptions } from './subscriptions.ts'

/** Some of the resources, and where the rest begins. */
export interface ResourcePage {
  readonly resources: Resource[]
  readonly nextCursor?: string
}

/** Something that happened to resources. */
export interface ResourceChange {
  /** Whether what is read from a resource is another thing now. */
  affects(uri: string): boolean
  /** Whether resources came or went. */
  readonly isOfList: boolean
}

/** Resources as the protocol speaks of them. Failures are `McpError`s. */
export interface ResourceSource {
  list(cursor: string | undefined, signal: AbortSignal): Promise<ResourcePage>
  templates(): readonly ResourceTemplate[]
  read(uri: string, signal: AbortSignal): Promise<ReadResourceResult['contents']>
  /** Refuses what cannot be subscribed to. */
  assertKnown(uri: string): void
  /** What changes from now on, until the signal says stop. */
  changes(signal: AbortSignal): AsyncIterable<ResourceChange>
}

/** Serves resources, and tells each session what changes of those it subscribed to. */
export function resourcesPart(source: ResourceSource): McpPart {
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
