import type { Terminal } from './terminal.ts'

/** One command of the CLI. It parses, calls the library and renders; it holds no logic of its own. */
export interface Command {
  readonly name: string
  readonly summary: string
  /** Printed by `coppice <name> --help`, with at least one example. */
  readonly help: string
  /** Runs with the arguments after the name; returns the exit code. */
  run(args: readonly string[], terminal: Terminal): Promise<number>
}

/** The user asked for something that makes no sense: told without a stack, exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}
