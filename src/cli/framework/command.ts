import type { CommandArgument, CommandDefinition, CommandOption } from './command-definition.ts'
import { CommandInvocation } from './command-invocation.ts'
import { recordFailureCode, recordHintTarget } from './hint.ts'
import { parseInput } from './parse-input.ts'
import type { Terminal } from './terminal.ts'

/** One command of the CLI. It parses, calls the library and renders; it holds no logic of its own. */
export interface Command {
  readonly definition: CommandDefinition
  /** Runs with the arguments after the name; returns the exit code. UsageError. */
  run(args: readonly string[], terminal: Terminal): Promise<number>
}

/** Commands that share their first word, such as `vault create` and `vault list`. */
export interface CommandGroup {
  readonly name: string
  readonly summary: string
  readonly commands: readonly Command[]
}

/** Creates a command from its definition and a function that runs on checked input and returns an exit code. */
export function defineCommand<
  const Options extends Readonly<Record<string, CommandOption>> = Readonly<Record<never, CommandOption>>,
  const Arguments extends Readonly<Record<string, CommandArgument>> = Readonly<
    Record<never, CommandArgument>
  >,
>(
  definition: CommandDefinition<Options, Arguments>,
  run: (
    call: CommandInvocation<Extract<keyof Options, string>, Extract<keyof Arguments, string>>,
  ) => Promise<number> | Promise<void>,
): Command {
  return {
    definition,
    async run(args, terminal) {
      const call = new CommandInvocation<Extract<keyof Options, string>, Extract<keyof Arguments, string>>(
        parseInput(definition, args),
        terminal,
      )
      try {
        const code = await run(call)
        await call.output.flush()
        return typeof code === 'number' ? code : 0
      } catch (error) {
        recordHintTarget(error, call)
        if (definition.failureCode !== undefined) recordFailureCode(error, definition.failureCode)
        throw error
      }
    },
  }
}
