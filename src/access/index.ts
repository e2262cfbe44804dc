/**
 * Who may do what where: callers, policies that judge by path, and the guard that holds a whole namespace to them.
 * No storage and no identity: whoever calls says who it is, and only the composition root lets nobody claim to be another.
 * Invariant: every operation of a guarded file system passes one gate, and is carried out exactly where it was judged.
 */
export { asSystem, assertContextName, callerName, contextCaller, contextOf, SYSTEM } from './caller.ts'
export { deviceWhitelist } from './device-whitelist.ts'
export { GuardedFs, type GuardOptions, guard } from './guard.ts'
export type { Access, AccessRequest, Policy, Verdict } from './policy.ts'
export { ProtectedNames, USUALLY_PROTECTED } from './protected-names.ts'
export { type ProtectedPlace, protectedNames } from './protection.ts'
export type { Quota } from './quota-zone.ts'
export { readOnlyPolicy } from './read-only.ts'
export { type Zone, zonePolicy, zonesOf } from './zones.ts'
