import { quoteShellWord } from '../render/shell-word.ts'

/**
 * A command line for which messages suggest another command, such as a `CommandInvocation`. The suggestion repeats its
 * `--home` and `--vault`.
 */
export interface HintTarget {
  option(name: 'home' | 'vault'): string | undefined
}

const NO_TARGET: HintTarget = { option: () => undefined }

/** The command line that each error ended. */
const failedCommands = new WeakMap<object, HintTarget>()

/** The exit code of each error whose command has its own. */
const failureCodes = new WeakMap<object, number>()

/** Records the command line that an error ended, for the hints of its message. */
export function recordHintTarget(error: unknown, target: HintTarget): void {
  if (typeof error === 'object' && error !== null) failedCommands.set(error, target)
}

/** Records the exit code of an error. */
export function recordFailureCode(error: unknown, code: number): void {
  if (typeof error === 'object' && error !== null) failureCodes.set(error, code)
}

/** Returns the exit code that was recorded for an error. */
export function findFailureCode(error: unknown): number | undefined {
  return typeof error === 'object' && error !== null ? failureCodes.get(error) : undefined
}

/** Returns the command line that an error ended. It has no options if none was recorded. */
export function findHintTarget(error: unknown): HintTarget {
  return (typeof error === 'object' && error !== null && failedCommands.get(error)) || NO_TARGET
}

/** Formats a command on the same vault, for a message: `coppice ls / --vault base`. */
export function formatVaultCommand(target: HintTarget, ...words: readonly string[]): string {
  return formatCommand(target, words, ['vault', 'home'])
}

/** Formats a command on the same home, for a message: `coppice ps --all --home /home`. */
export function formatHomeCommand(target: HintTarget, ...words: readonly string[]): string {
  return formatCommand(target, words, ['home'])
}

function formatCommand(
  target: HintTarget,
  words: readonly string[],
  options: readonly ('home' | 'vault')[],
): string {
  const repeated = options.flatMap((name) => {
    const value = target.option(name)
    return value === undefined ? [] : [`--${name}`, value]
  })
  return ['coppice', ...words, ...repeated].map(quoteShellWord).join(' ')
}
