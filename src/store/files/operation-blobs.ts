import type { BlobRef } from '../tree/tree-values.ts'
import type { FileOperation, StoredContent } from './operation.ts'

/** The blobs an operation brings: versions of files that can be asked for again. */
export function listOperationBlobs(operation: FileOperation): BlobRef[] {
  switch (operation.op) {
    case 'write':
    case 'revert':
    case 'create':
      return listContentBlobs(operation.content)
    case 'extend':
      return operation.chunks.filter(isData)
    case 'patch':
      return operation.chunks.flatMap(([, chunk]) => (chunk !== null && isData(chunk) ? [chunk] : []))
    case 'merge':
    case 'batch':
      return operation.operations.flatMap(listOperationBlobs)
    default:
      return []
  }
}

function listContentBlobs(content: StoredContent | undefined): BlobRef[] {
  return content?.chunks?.filter(isData) ?? []
}

/** A hole refers to nothing. */
function isData({ size }: BlobRef): boolean {
  return size > 0
}
