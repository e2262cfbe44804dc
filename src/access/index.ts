/**
 * Access control. A caller names who makes a call, a policy decides which caller may use which path, and `guard` wraps a
 * file system so that every call has to pass its policies. This folder stores nothing and authenticates nobody: it
 * trusts the caller in the call context, which the code that opens the namespace sets.
 * Invariant: every operation of a guarded file system passes one gate (`gate.ts`), and runs on exactly the path that
 * the gate checked, even if somebody replaces a directory by a link in between.
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
