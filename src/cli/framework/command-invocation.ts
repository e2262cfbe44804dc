import type { CommonOption } from './common-options.ts'
import { Output } from './output.ts'
import type { ParsedInput } from './parse-input.ts'
import type { Terminal } from './terminal.ts'
import { UsageError } from './usage-error.ts'

/** One run of a command: its input and its output. Accepts only names of the definition. */
export class CommandInvocation<OptionName extends string = never, ArgumentName extends string = never> {
  readonly terminal: Terminal
  readonly output: Output
  readonly #input: ParsedInput

  constructor(input: ParsedInput, terminal: Terminal) {
    this.#input = input
    this.terminal = terminal
    this.output = new Output(terminal, input.options.has('json'))
  }

  get isJson(): boolean {
    return this.#input.options.has('json')
  }

  /** Reports whether an option was given. */
  has(option: OptionName | CommonOption): boolean {
    return this.#input.options.has(option)
  }

  /** Returns the value of an option; undefined if it was not given, or is a switch. */
  option(option: OptionName | CommonOption): string | undefined {
    return this.optionValues(option)[0]
  }

  /** Returns all values of a repeatable option. */
  optionValues(option: OptionName | CommonOption): readonly string[] {
    return this.#input.options.get(option) ?? []
  }

  /** Returns the value of an option as a whole number, zero or above. UsageError for any other text. */
  countOption(option: OptionName, unit?: 'seconds'): number | undefined {
    const text = this.option(option)
    if (text === undefined) return undefined
    if (/^\d{1,15}$/.test(text)) return Number(text)
    throw new UsageError(
      `--${option} takes a whole number${unit === undefined ? '' : ` of ${unit}`}, not '${text}'`,
    )
  }

  /** Returns the value of an option that has a fixed set of values; undefined if it was not given. */
  choiceOption<Value extends string>(option: OptionName, choices: readonly Value[]): Value | undefined {
    return choices.find((value) => value === this.option(option))
  }

  /** Returns a required argument. UsageError if it is missing. */
  argument(name: ArgumentName): string {
    const value = this.optionalArgument(name)
    if (value === undefined) throw new UsageError(`<${name}> is missing`)
    return value
  }

  /** Returns an optional argument. */
  optionalArgument(name: ArgumentName): string | undefined {
    return this.argumentList(name)[0]
  }

  /** Returns all words of an argument; none if it is missing. */
  argumentList(name: ArgumentName): readonly string[] {
    return this.#input.arguments.get(name) ?? []
  }
}
