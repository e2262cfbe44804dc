/**
 * Anthropic's memory tool on a directory of any file system: the handlers that its SDK expects, with the documented
 * texts. No package is loaded: commands are data and results are text. Invariant: nothing outside the directory is
 * shown, read or changed, and no link below it is followed.
 */
export type {
  CreateCommand,
  DeleteCommand,
  InsertCommand,
  MemoryCommand,
  RenameCommand,
  StrReplaceCommand,
  ViewCommand,
} from './memory-commands.ts'
export { MemoryError } from './memory-error.ts'
export { type MemoryHandlerOptions, type MemoryHandlers, memoryHandlers } from './memory-handlers.ts'
