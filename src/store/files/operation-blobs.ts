import type { BlobRef } from '../tree/records.ts'
import type { FileOperation, StoredContent } from './operation.ts'

/** The blobs an operation brings: versions of files that can be asked for again. */
export function blobsIn(operation: FileOperation): BlobRef[] {
  switch (operation.op) {
    case 'write':
    case 'revert':
    case 'create':
      return inContent(operation.content)
    case 'extend':
      return operation.chunks.filter(isStored)
    case 'patch':
      return operation.chunks.flatMap(([, chunk]) => (chunk !== null && isStored(chunk) ? [chunk] : []))
    case 'merge':
    case 'batch':
      return operation.operations.flatMap(blobsIn)
    default:
      return []
  }
}

function inContent(content: StoredContent | undefined): BlobRef[] {
  return content?.chunks?.filter(isStored) ?? []
}

/** A hole refers to nothing. */
function isStored({ size }: BlobRef): boolean {
  return size > 0
}
