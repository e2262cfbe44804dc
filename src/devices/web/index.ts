/**
 * `/dev/web`: pages as Markdown, and searches through an endpoint that somebody configured.
 * Made for addresses a model chose, so it reaches the public web and nothing of this machine or its network.
 * Invariant: what is connected to is the very address that was judged, at every redirect anew.
 */
export type { ResolveHost } from './guarded-get.ts'
export { type WebDeviceOptions, webDevice } from './web-device.ts'
export {
  createEndpointSearch,
  type SearchEndpoint,
  type SearchHit,
  type WebSearch,
  type WebSearchQuery,
} from './web-search.ts'
