/**
 * Dumb storage of others as a file system: ten plain methods, and one adapter that does the rest.
 * No permission logic, no order of calls and no options on the other side: the adapter has checked everything.
 * Invariant: changes reach a storage one at a time, and only where they make sense.
 */
export { fromStorage } from './from-storage.ts'
export type { StorageBackend, StorageEntry, StorageKind, StorageMetadata } from './storage-backend.ts'
