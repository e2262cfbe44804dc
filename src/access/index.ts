/**
 * Access control: callers, policies that check paths, and the guard that enforces them on a whole namespace.
 * No storage and no authentication: callers name themselves, and the composition root prevents impersonation.
 * Invariant: every operation of a guarded file system passes one gate and runs exactly on the path that was
 * checked.
 */
export { asSystem, assertContextName, callerName, contextCaller, getCallerContext, SYSTEM } from './caller.ts'
export { deviceWhitelistPolicy } from './device-whitelist.ts'
export { type GuardedFs, type GuardOptions, guard } from './guard.ts'
export type { Access, AccessRequest, Policy, Verdict } from './policy.ts'
export { DEFAULT_PROTECTED_NAMES, ProtectedNames } from './protected-names.ts'
export { type ProtectedRoot, protectedNamesPolicy } from './protected-names-policy.ts'
export type { PathQuota } from './quota-zone.ts'
export { readOnlyPolicy } from './read-only-policy.ts'
export { listWritableZones, type Zone, zonePolicy } from './zones.ts'
