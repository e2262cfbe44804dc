/**
 * The watcher of a home: a small program that watches directories while agents work in them, so that a hook learns from
 * it that nothing changed, and does not compare every file. Hooks start it; it opens no store and runs nothing.
 * Invariant: a directory counts as changed unless every event since the mark is known.
 */
export { findStartProblem, startWatcher } from './start-watcher.ts'
export { askWatcher, getWatcherStatus, stopWatcher } from './watcher-client.ts'
export type { WatcherStatus } from './watcher-protocol.ts'
