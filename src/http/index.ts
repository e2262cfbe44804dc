/**
 * Rules of all HTTP servers of this program: bearer tokens, and refused requests. The servers themselves are elsewhere.
 * Invariant: a comparison with a token takes the same time for every wrong one.
 */
export { BearerToken } from './bearer-token.ts'
export type { HttpRefusal } from './http-refusal.ts'
