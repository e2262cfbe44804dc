/**
 * `/dev/web`: pages as Markdown, and searches through a configured endpoint.
 * A model chooses the addresses, so it reaches the public web and nothing of this machine or its network.
 * Invariant: it connects to the very address that was checked, for every redirect anew.
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
