import type { ReadResourceResult, Resource, ResourceTemplateType } from '@modelcontextprotocol/server'

/** A page of resources and the cursor of the next. */
export interface ResourcePage {
  readonly resources: Resource[]
  readonly nextCursor?: string
}

/** A change of resources. */
export interface ResourceChange {
  /** Reports whether the content of a resource changed. */
  affects(uri: string): boolean
  /** True if listed resources were added or removed. */
  readonly affectsList: boolean
}

/** Resources in the protocol's form. Failures are `ProtocolError`s. */
export interface ResourceSource {
  list(cursor: string | undefined, signal: AbortSignal): Promise<ResourcePage>
  templates(): readonly ResourceTemplateType[]
  read(uri: string, signal: AbortSignal): Promise<ReadResourceResult['contents']>
  /** Throws ProtocolError for a URI that is not of this source. The resource need not exist. */
  assertKnown(uri: string): void
  /** Yields changes from now on, until the signal aborts. */
  changes(signal: AbortSignal): AsyncIterable<ResourceChange>
}
