/**
 * Adapts plain storage with ten methods to a file system. The storage needs no permission logic, no locking and no
 * options: the adapter has checked everything. Invariant: a storage receives changes one at a time, and only valid
 * ones.
 */
export { fromStorage } from './from-storage.ts'
export type { StorageBackend, StorageEntry, StorageKind, StorageMetadata } from './storage-backend.ts'
