import type { Command, Redirection, Word } from 'unbash'
import type { Evaluation } from './arithmetic.ts'
import type { Variables } from './variables.ts'

/** Command of a script that runs one program, with its depth and its input. */
export interface SimpleCommand {
  /** Absent where there are only redirections, those of a loop for example. */
  readonly node: Command | undefined
  readonly redirects: readonly Redirection[]
  /** Depth below the root of the workspace, in directories. */
  readonly depth: number
  /** Returns its input, where known; undefined where it reads the script's own input. */
  readonly stdin: (() => string) | undefined
  /** Depth of a `cd` that ends the script if the moves before it succeed. If they fail, it does no harm. */
  readonly closingDepth?: number | undefined
}

/** Parsed script. */
export interface ShellScript {
  readonly commands: readonly SimpleCommand[]
  readonly variables: Variables
  /** Names of functions, whose bodies are among the commands. */
  readonly functions: ReadonlySet<string>
  /** True if it shows a menu. */
  readonly isInteractive: boolean
  /**
   * Texts with commands in a subscript, which a shell runs where it reads a number or a name, even if it was in quotes:
   * the `a[$(x)]` of `[[ 'a[$(x)]' -eq 1 ]]`.
   */
  readonly evaluatedTexts: readonly string[]
  /** Everything that a shell reads as a number or a name. */
  readonly evaluations: readonly Evaluation[]
  /** Words that a loop or an array iterates over. */
  readonly listed: readonly ListedWord[]
  /** Input that `exec` redirects the script itself to; undefined without such an `exec`. */
  readonly input: SimpleCommand['stdin']
  /** Variables that get a value otherwise than by an assignment. */
  readonly assigned: readonly AssignedVariable[]
  /** True if it expands a value as a prompt, which runs the commands in it. */
  readonly hasPrompt: boolean
  /** First grammar error. */
  readonly error: string | undefined
}

/** Word that is not an argument of a program yet. */
export interface ListedWord {
  readonly word: Word
  readonly depth: number
}

/** Variable with a possible value; undefined where only the shell knows it. */
export interface AssignedVariable {
  readonly name: string
  readonly word: Word | undefined
  readonly depth: number
}
