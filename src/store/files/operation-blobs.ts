import type { BlobRef } from '../tree/tree-values.ts'
import type { FileOperation, StoredContent } from './operation.ts'

/** Lists the blobs of an operation: file versions that can still be read. */
export function listOperationBlobs(operation: FileOperation): readonly BlobRef[] {
  switch (operation.op) {
    case 'write':
    case 'revert':
    case 'create':
      return listContentBlobs(operation.content)
    case 'extend':
      return listData(operation.chunks)
    case 'patch':
      return operation.chunks.flatMap(([, chunk]) => (chunk !== null && isData(chunk) ? [chunk] : []))
    case 'merge':
    case 'batch':
      return operation.operations.flatMap(listOperationBlobs)
    default:
      return []
  }
}

function listContentBlobs(content: StoredContent | undefined): readonly BlobRef[] {
  return content?.chunks === undefined ? [] : listData(content.chunks)
}

/** Returns the chunks that have data: most lists have no others, and stay as they are. */
function listData(chunks: readonly BlobRef[]): readonly BlobRef[] {
  return chunks.every(isData) ? chunks : chunks.filter(isData)
}

/** Reports whether a chunk has data; a hole has none. */
function isData({ size }: BlobRef): boolean {
  return size > 0
}
