import { z } from 'zod'
import { MemoryError } from './memory-error.ts'

/** Shows a directory two levels deep, or a file with line numbers. */
export interface ViewCommand {
  command: 'view'
  path: string
  /** The first and the last line, counted from 1; -1 is the last of the file. */
  view_range?: number[] | null | undefined
}

/** Creates a file that does not exist yet. */
export interface CreateCommand {
  command: 'create'
  path: string
  file_text: string
}

/** Replaces a text that occurs exactly once in a file. */
export interface StrReplaceCommand {
  command: 'str_replace'
  path: string
  old_str: string
  new_str: string
}

/** Inserts lines after a line; 0 is the beginning. */
export interface InsertCommand {
  command: 'insert'
  path: string
  insert_line: number
  insert_text: string
}

/** Deletes a file, or a directory with its content. */
export interface DeleteCommand {
  command: 'delete'
  path: string
}

/** Renames or moves a file or directory to a free path. */
export interface RenameCommand {
  command: 'rename'
  old_path: string
  new_path: string
}

/** Input of the memory tool. */
export type MemoryCommand =
  | ViewCommand
  | CreateCommand
  | StrReplaceCommand
  | InsertCommand
  | DeleteCommand
  | RenameCommand

/** Input of a command without its name. */
type CommandInput<Name extends MemoryCommand['command']> = Omit<
  Extract<MemoryCommand, { command: Name }>,
  'command'
>

const path = z.string()

/** Schemas of the commands: the SDK passes the model's input unchecked. */
const schemas: { readonly [Name in MemoryCommand['command']]: z.ZodType<CommandInput<Name>> } = {
  view: z.object({ path, view_range: z.array(z.int()).length(2).nullish() }),
  create: z.object({ path, file_text: z.string() }),
  str_replace: z.object({ path, old_str: z.string(), new_str: z.string().default('') }),
  insert: z.object({ path, insert_line: z.int(), insert_text: z.string() }),
  delete: z.object({ path }),
  rename: z.object({ old_path: path, new_path: path }),
}

/** Parses the input of a command. MemoryError with the first problem. */
export function parseCommand<Name extends MemoryCommand['command']>(
  name: Name,
  given: unknown,
): CommandInput<Name> {
  const result = schemas[name].safeParse(given)
  if (result.success) return result.data
  const [issue] = result.error.issues
  throw new MemoryError(`Invalid \`${issue?.path.join('.')}\` parameter of ${name}: ${issue?.message}`)
}
