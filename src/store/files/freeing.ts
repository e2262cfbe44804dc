import type { FileOperation } from './operation.ts'

/** Whether an operation removes or shortens something, or changes attributes: allowed on a full disk. */
export function isFreeing(operation: FileOperation): boolean {
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
      return operation.inline === undefined && operation.chunks.every(([, chunk]) => chunk === null)
    case 'batch':
      return operation.operations.every(isFreeing)
    default:
      return false
  }
}
