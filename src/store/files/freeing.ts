import type { Files } from './files.ts'
import type { FileOperation, InodeOperation } from './operation.ts'

type Patch = Extract<InodeOperation, { readonly op: 'patch' }>

/**
 * Whether an operation removes or shortens something, or changes attributes: allowed on a full disk.
 * @param files as they are before it.
 */
export function isFreeing(operation: FileOperation, files: Files): boolean {
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
      return takesMore(operation, files)
    case 'batch':
      return operation.operations.every((each) => isFreeing(each, files))
    default:
      return false
  }
}

/** Whether a patch brings no more chunks than it takes away: a cut, or a hole, stores what is left of a chunk again. */
function takesMore({ inode, size, inline = '', chunks }: Patch, files: Files): boolean {
  const holes = chunks.filter(([, chunk]) => chunk === null).length
  const brought = chunks.length - holes + (inline === '' ? 0 : 1)
  if (brought <= holes) return true
  return brought <= holes + 1 && size < (files.inodeIfPresent(inode)?.size ?? 0)
}
