import { assertFileSystem, type CallContext, type FileSystem } from '../../vfs/index.ts'
import { MemoryChanges } from './memory-changes.ts'
import {
  type CreateCommand,
  type DeleteCommand,
  type InsertCommand,
  parseCommand,
  type RenameCommand,
  type StrReplaceCommand,
  type ViewCommand,
} from './memory-commands.ts'
import { toMemoryError } from './memory-error.ts'
import { MEMORIES, type MemoryTarget, resolveMemoryPath } from './memory-target.ts'
import { viewMemory } from './view-memory.ts'

/** Handlers for `betaMemoryTool` of Anthropic's SDK. A failure rejects with a MemoryError for the model. */
export interface MemoryHandlers {
  view(command: ViewCommand): Promise<string>
  create(command: CreateCommand): Promise<string>
  str_replace(command: StrReplaceCommand): Promise<string>
  insert(command: InsertCommand): Promise<string>
  delete(command: DeleteCommand): Promise<string>
  rename(command: RenameCommand): Promise<string>
}

/** Options of `memoryHandlers`. */
export interface MemoryHandlerOptions {
  /** Directory that the model sees as `/memories`; created on the first write. `/memories` when absent. */
  readonly directory?: string
  /** Context of every call: the agent's identity. */
  readonly ctx?: CallContext
}

/** Creates handlers of Anthropic's memory tool (`memory_20250818`) on a directory of a file system. */
export function memoryHandlers(
  fs: FileSystem,
  { directory = MEMORIES, ctx }: MemoryHandlerOptions = {},
): MemoryHandlers {
  assertFileSystem(fs, '/', 'memory')
  // A link may be created after the path was checked.
  const call: CallContext = { ...ctx, links: 'refuse' }
  const changes = new MemoryChanges(fs, call)
  const { links: _, ...lookupContext } = call
  const runAt = async (path: string, act: (target: MemoryTarget) => Promise<string>) => {
    try {
      return await act(await resolveMemoryPath(fs, directory, path, lookupContext))
    } catch (error) {
      throw toMemoryError(error, path)
    }
  }
  return {
    view: async (command) => {
      const { path, view_range } = parseCommand('view', command)
      return runAt(path, (target) => viewMemory(fs, target, view_range ?? undefined, call))
    },
    create: async (command) => {
      const { path, file_text } = parseCommand('create', command)
      return runAt(path, (target) => changes.create(target, file_text))
    },
    str_replace: async (command) => {
      const { path, old_str, new_str } = parseCommand('str_replace', command)
      return runAt(path, (target) => changes.replace(target, old_str, new_str))
    },
    insert: async (command) => {
      const { path, insert_line, insert_text } = parseCommand('insert', command)
      return runAt(path, (target) => changes.insert(target, insert_line, insert_text))
    },
    delete: async (command) =>
      runAt(parseCommand('delete', command).path, (target) => changes.delete(target)),
    rename: async (command) => {
      const { old_path, new_path } = parseCommand('rename', command)
      return runAt(old_path, (from) => runAt(new_path, (to) => changes.rename(from, to)))
    },
  }
}
