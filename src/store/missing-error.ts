import { VfsError } from '../vfs/index.ts'

/** Something that a tree leads to is not in the store: it is damaged, or a collection has taken a tree nobody holds. */
export class MissingError extends VfsError {
  constructor(kind: 'page' | 'blob', id: number, op: string) {
    super('EIO', `${kind} ${id}`, { op, detail: `${kind} ${id} is missing; run fsck` })
  }
}

/** Why a snapshot cannot be read to its end any more. */
export function createSnapshotCollectedError(cause: MissingError): VfsError {
  const detail =
    'this process did not answer a garbage collection in time, which took what it was reading; begin again'
  return new VfsError('EUNAVAILABLE', '/', { op: 'read', detail, cause })
}
