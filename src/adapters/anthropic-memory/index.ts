/**
 * Anthropic's memory tool on a directory of any file system: the handlers its SDK wants, with the documented texts.
 * No package is loaded: the model's commands are data, and the results are text.
 * Invariant: nothing outside of the directory is named, read or changed, and no link is followed.
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
