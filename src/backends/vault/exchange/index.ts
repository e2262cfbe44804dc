/**
 * Push and pull of a vault between two homes. Each home that exchanges a vault with another has a tracking fork: the
 * state that both last had. Everything else is fork, merge, send and receive.
 */
export {
  createExchangeName,
  type Exchanged,
  type ExchangeOptions,
  findCommonCheckpoint,
  forgetCheckpoint,
  hasChangedSince,
  isExchangeName,
  toTrackingName,
} from './exchange.ts'
export { type FetchReport, fetchTracking, fetchVault, type TrackedState } from './fetch-vault.ts'
export { type PushReport, pushVault } from './push-vault.ts'
