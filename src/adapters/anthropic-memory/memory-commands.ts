import { z } from 'zod'
import { MemoryError } from './memory-error.ts'

/** Shows a directory two levels deep, or a file with line numbers. */
export interface ViewCommand {
  command: 'view'
  path: string
  /** The first and the last line, counted from 1; -1 is the last of the file. */
  view_range?: number[] | null | undefined
}

/** Makes a file that is not there yet. */
export interface CreateCommand {
  command: 'create'
  path: string
  file_text: string
}

/** Replaces a text that is in a file exactly once. */
export interface StrReplaceCommand {
  command: 'str_replace'
  path: string
  old_str: string
  new_str: string
}

/** Puts lines after a line; 0 is the beginning. */
export interface InsertCommand {
  command: 'insert'
  path: string
  insert_line: number
  insert_text: string
}

/** Deletes a file, or a directory with all it holds. */
export interface DeleteCommand {
  command: 'delete'
  path: string
}

/** Renames or moves a file or directory to where nothing is. */
export interface RenameCommand {
  command: 'rename'
  old_path: string
  new_path: string
}

/** What the model calls the memory tool with. */
export type MemoryCommand =
  | ViewCommand
  | CreateCommand
  | StrReplaceCommand
  | InsertCommand
  | DeleteCommand
  | RenameCommand

/** The command of a name, but for its name. */
type CommandInput<Name extends MemoryCommand['command']> = Omit<
  Extract<MemoryCommand, { command: Name }>,
  'command'
>

const path = z.string()

/** The SDK hands over what the model wrote, unchecked. */
const schemas: { readonly [Name in MemoryCommand['command']]: z.ZodType<CommandInput<Name>> } = {
  view: z.object({ path, view_range: z.array(z.int()).length(2).nullish() }),
  create: z.object({ path, file_text: z.string() }),
  str_replace: z.object({ path, old_str: z.string(), new_str: z.string().default('') }),
  insert: z.object({ path, insert_line: z.int(), insert_text: z.string() }),
  delete: z.object({ path }),
  rename: z.object({ old_path: path, new_path: path }),
}

/** What a model gave for a command. MemoryError with the first thing that is wrong with it. */
export function parseCommand<Name extends MemoryCommand['command']>(
  name: Name,
  given: unknown,
): CommandInput<Name> {
  const result = schemas[name].safeParse(given)
  if (result.success) return result.data
  const [issue] = result.error.issues
  throw new MemoryError(`Invalid \`${issue?.path.join('.')}\` parameter of ${name}: ${issue?.message}`)
}
