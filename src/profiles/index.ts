/**
 * Profiles: what a known program needs of the user's home, environment and network to work in a session. A profile is
 * data, shipped with the package or written by the user; this folder reads and validates it, and never runs anything.
 * Invariant: a profile comes from the package or the home, never from a project.
 */

export { type Profile, toVisiblePaths } from './profile.ts'
export { ProfileStore } from './profile-store.ts'
export { findProgramProfile } from './program-profile.ts'
