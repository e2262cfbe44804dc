/**
 * Who may do what where: callers, policies that judge by path, and the guard that holds a whole namespace to them.
 * No storage and no identity: whoever calls says who it is, and only the composition root lets nobody claim to be another.
 * Invariant: every operation of a guarded file system passes one gate, and is carried out exactly where it was judged.
 */
export { asSystem, assertContextName, callerName, contextCaller, getCallerContext, SYSTEM } from './caller.ts'
export { deviceWhitelistPolicy } from './device-whitelist.ts'
export { GuardedFs, type GuardOptions, guard } from './guard.ts'
export type { Access, AccessRequest, Policy, Verdict } from './policy.ts'
export { DEFAULT_PROTECTED_NAMES, ProtectedNames } from './protected-names.ts'
export { type ProtectedRoot, protectedNamesPolicy } from './protected-names-policy.ts'
export type { PathQuota } from './quota-zone.ts'
export { readOnlyPolicy } from './read-only-policy.ts'
export { listWritableZones, type Zone, zonePolicy } from './zones.ts'
