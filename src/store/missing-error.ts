import { VfsError } from '../vfs/index.ts'

/** A page or blob that a tree refers to is not stored: the store is damaged, or a collection removed an unheld tree. */
export class MissingError extends VfsError {
  constructor(kind: 'page' | 'blob', id: number, op: string) {
    super('EIO', `${kind} ${id}`, { op, detail: `${kind} ${id} is missing; run fsck` })
  }
}

/** Creates EUNAVAILABLE for a snapshot that a collection removed while it was read. */
export function createSnapshotCollectedError(cause: MissingError): VfsError {
  const detail =
    'a garbage collection removed the tree, since this process did not answer it in time; read again'
  return new VfsError('EUNAVAILABLE', '/', { op: 'read', detail, cause })
}

/** Creates EUNAVAILABLE for content that a collection removed while it was written. */
export function createUploadCollectedError(cause?: unknown): VfsError {
  const detail =
    'a garbage collection removed the upload, since this process did not answer it in time; write it again'
  return new VfsError('EUNAVAILABLE', '/', { op: 'write', detail, cause })
}
