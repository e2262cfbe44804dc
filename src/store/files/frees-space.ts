import type { FileOperation, InodeOperation } from './operation.ts'
import type { VaultFiles } from './vault-files.ts'

type PatchOperation = Extract<InodeOperation, { readonly op: 'patch' }>

/**
 * Reports whether an operation removes or shortens a file, or changes attributes: allowed on a full disk.
 * @param files before the operation.
 */
export function freesSpace(operation: FileOperation, files: VaultFiles): boolean {
  switch (operation.op) {
    case 'remove':
    case 'unlink':
    case 'release':
    case 'delete':
    case 'attributes':
      return true
    case 'write':
      return operation.content.size === 0
    case 'patch':
      return freesChunks(operation, files)
    case 'batch':
      return operation.operations.every((each) => freesSpace(each, files))
    default:
      return false
  }
}

/**
 * Reports whether a patch adds no more chunks than it removes, or one more if it shortens the file: a partial chunk.
 */
function freesChunks({ inode, size, inline = '', chunks }: PatchOperation, files: VaultFiles): boolean {
  const holes = chunks.filter(([, chunk]) => chunk === null).length
  const added = chunks.length - holes + (inline === '' ? 0 : 1)
  if (added <= holes) return true
  return added <= holes + 1 && size < (files.findInode(inode)?.size ?? 0)
}
