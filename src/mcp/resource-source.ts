import type { ReadResourceResult, Resource, ResourceTemplate } from '@modelcontextprotocol/sdk/types.js'

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
