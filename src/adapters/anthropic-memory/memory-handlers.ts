import { assertFileSystem, type CallContext, type FileSystem } from '../../vfs/index.ts'
import { MemoryChanges } from './changes.ts'
import {
  type CreateCommand,
  checked,
  type DeleteCommand,
  type InsertCommand,
  type RenameCommand,
  type StrReplaceCommand,
  type ViewCommand,
} from './commands.ts'
import { toldOf } from './memory-error.ts'
import { locate, MEMORIES, type MemoryPlace } from './memory-place.ts'
import { view } from './view.ts'

/** What `betaMemoryTool` of Anthropic's SDK takes. What fails rejects with a MemoryError the model can read. */
export interface MemoryHandlers {
  view(command: ViewCommand): Promise<string>
  create(command: CreateCommand): Promise<string>
  str_replace(command: StrReplaceCommand): Promise<string>
  insert(command: InsertCommand): Promise<string>
  delete(command: DeleteCommand): Promise<string>
  rename(command: RenameCommand): Promise<string>
}

export interface MemoryOptions {
  /** The directory that is `/memories` for the model; it is made when something is first kept in it. `/memories` when absent. */
  readonly directory?: string
  /** What accompanies every call: who the agent is. */
  readonly ctx?: CallContext
}

/** Handlers of Anthropic's memory tool (`memory_20250818`) on a directory of a file system. */
export function memoryHandlers(
  fs: FileSystem,
  { directory = MEMORIES, ctx }: MemoryOptions = {},
): MemoryHandlers {
  assertFileSystem(fs, '/', 'memory')
  // A link may be put there after a path was judged.
  const call: CallContext = { ...ctx, links: 'refuse' }
  const changes = new MemoryChanges(fs, call)
  const { links: _, ...looking } = call
  const at = async (path: string, act: (place: MemoryPlace) => Promise<string>) => {
    try {
      return await act(await locate(fs, directory, path, looking))
    } catch (error) {
      throw toldOf(error, path)
    }
  }
  return {
    view: async (command) => {
      const { path, view_range } = checked('view', command)
      return at(path, (place) => view(fs, place, view_range ?? undefined, call))
    },
    create: async (command) => {
      const { path, file_text } = checked('create', command)
      return at(path, (place) => changes.create(place, file_text))
    },
    str_replace: async (command) => {
      const { path, old_str, new_str } = checked('str_replace', command)
      return at(path, (place) => changes.replace(place, old_str, new_str))
    },
    insert: async (command) => {
      const { path, insert_line, insert_text } = checked('insert', command)
      return at(path, (place) => changes.insert(place, insert_line, insert_text))
    },
    delete: async (command) => at(checked('delete', command).path, (place) => changes.delete(place)),
    rename: async (command) => {
      const { old_path, new_path } = checked('rename', command)
      return at(old_path, (from) => at(new_path, (to) => changes.rename(from, to)))
    },
  }
}
