/**
 * Watches directories while agents work in them, so that a hook learns from the daemon that nothing changed, and does
 * not compare every file.
 * Invariant: a directory counts as changed unless every event since the mark is known.
 */
export { DirectoryWatches } from './directory-watches.ts'
