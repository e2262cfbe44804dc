/**
 * Source from which the shell completes a value: names of the home, paths in the vault, tools, or files of this
 * machine.
 */
export type CompletionSource =
  | 'vault'
  /** Forks of the working directory, and vaults that are forks of no directory. */
  | 'fork'
  | 'directory-fork'
  /** Forks of the working directory; where it has none, checkpoints of the vault. */
  | 'fork-or-checkpoint'
  | 'checkpoint'
  | 'path'
  | 'context'
  | 'tool'
  | 'file'

/** An option `--name`, also `-n` if it has a short form. */
export interface CommandOption {
  readonly summary: string
  readonly short?: string
  /** Name of the value in the help. An option without one is a switch. */
  readonly value?: string
  /** True if it may be repeated. */
  readonly isList?: boolean
  readonly choices?: readonly string[]
  readonly offers?: CompletionSource
}

export interface CommandArgument {
  readonly summary: string
  readonly isOptional?: boolean
  /** True if the words are another program and its options: they follow `--`, and are not parsed. */
  readonly isForOtherProgram?: boolean
  /** True if it takes the words after `--` and no others. */
  readonly isAfterDashes?: boolean
  /** True if it takes all remaining words. Only the last argument may, and the last before `--`. */
  readonly isList?: boolean
  readonly choices?: readonly string[]
  readonly offers?: CompletionSource
}

/** Target of a command: nothing, a home, a vault to read, or a vault to change. It decides the common options. */
export type CommandScope = 'none' | 'home' | 'vault' | 'change'

/** Definition of a command, from which help, checks and completion derive. */
export interface CommandDefinition<
  Options extends Readonly<Record<string, CommandOption>> = Readonly<Record<string, CommandOption>>,
  Arguments extends Readonly<Record<string, CommandArgument>> = Readonly<Record<string, CommandArgument>>,
> {
  /** The words after `coppice`: one, or two for a command of a group. */
  readonly name: string
  readonly summary: string
  /** Details that the help prints below the summary. */
  readonly details?: string
  readonly scope: CommandScope
  /** Exit code of failures, for a command that exits with 1 for a result such as no match. */
  readonly failureCode?: number
  readonly options?: Options
  /** In the order of the command line. */
  readonly arguments?: Arguments
  readonly examples: readonly string[]
}
