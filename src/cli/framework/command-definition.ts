/** What a shell may offer for a value: names of the home, paths in the vault, tools, or files of this machine. */
export type CompletionSource = 'vault' | 'checkpoint' | 'path' | 'context' | 'tool' | 'file'

/** `--name`, and `-n` if it has a letter. */
export interface CommandOption {
  readonly summary: string
  readonly short?: string
  /** What its value is called in the help. An option without one is a switch. */
  readonly value?: string
  /** May be given several times. */
  readonly isList?: boolean
  readonly choices?: readonly string[]
  readonly offers?: CompletionSource
}

export interface CommandArgument {
  readonly summary: string
  readonly isOptional?: boolean
  /** Words of another program, with options of its own. */
  readonly isPassedOn?: boolean
  /** Takes all that is left: only the last argument can. */
  readonly isList?: boolean
  readonly choices?: readonly string[]
  readonly offers?: CompletionSource
}

/** What a command works on: nothing of the store, a home, a vault, or a vault that it changes. It gets the options for that. */
export type CommandScope = 'none' | 'home' | 'vault' | 'change'

/** A command as it is told: the help, the checks and the completion all come from this. */
export interface CommandDefinition<
  Options extends Readonly<Record<string, CommandOption>> = Readonly<Record<string, CommandOption>>,
  Arguments extends Readonly<Record<string, CommandArgument>> = Readonly<Record<string, CommandArgument>>,
> {
  /** As it is typed after `coppice`: one word, or two for a command of a family. */
  readonly name: string
  readonly summary: string
  /** What the summary leaves open, for the help. */
  readonly details?: string
  readonly scope: CommandScope
  readonly options?: Options
  /** In the order they are typed. */
  readonly arguments?: Arguments
  readonly examples: readonly string[]
}
