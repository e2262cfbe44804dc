import { parseInput } from './arguments.ts'
import { Call } from './call.ts'
import type { Argument, Definition, Option } from './definition.ts'
import type { Terminal } from './terminal.ts'

/** One command of the CLI. It parses, calls the library and renders; it holds no logic of its own. */
export interface Command {
  readonly definition: Definition
  /** Runs with the arguments after the name; returns the exit code. UsageError. */
  run(args: readonly string[], terminal: Terminal): Promise<number>
}

/** Commands that share their first word, such as `vault create` and `vault list`. */
export interface Family {
  readonly name: string
  readonly summary: string
  readonly commands: readonly Command[]
}

/** Makes a command of its definition and of what it does once its arguments are checked: it returns the exit code if it is not 0. */
export function command<
  const Options extends Readonly<Record<string, Option>> = Readonly<Record<never, Option>>,
  const Arguments extends Readonly<Record<string, Argument>> = Readonly<Record<never, Argument>>,
>(
  definition: Definition<Options, Arguments>,
  run: (
    call: Call<Extract<keyof Options, string>, Extract<keyof Arguments, string>>,
  ) => Promise<number> | Promise<void>,
): Command {
  return {
    definition,
    async run(args, terminal) {
      const call = new Call<Extract<keyof Options, string>, Extract<keyof Arguments, string>>(
        parseInput(definition, args),
        terminal,
      )
      const code = await run(call)
      await call.output.flush()
      return typeof code === 'number' ? code : 0
    },
  }
}
