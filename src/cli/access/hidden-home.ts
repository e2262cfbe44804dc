import { accessSync, constants, existsSync } from 'node:fs'
import type { CommandInvocation } from '../framework/command-invocation.ts'
import { CommandError, describeError } from '../framework/errors.ts'

/** Reports whether `coppice exec` hides the home from this command. */
export function isHomeHidden(call: CommandInvocation, path: string): boolean {
  if (!process.env['COPPICE_WORKSPACE']) return false
  // Isolation covers the home with a tiny file system, which may be writable.
  return call.option('home') === undefined || !isWritable(path)
}

export function createHiddenHomeError(path: string, cause?: unknown): CommandError {
  const next =
    'run coppice outside of the fork, or name a home of its own with --home, such as --home /tmp/home'
  const reason = cause === undefined ? '' : ` (${describeError(cause).message})`
  return new CommandError(`the home in ${path} is hidden from commands of coppice exec; ${next}${reason}`, {
    cause,
  })
}

/**
 * Creates the error of a command that needs a home where there is none. A command in a fork sees an empty directory.
 *
 * @param next says what creates one.
 */
export function createMissingHomeError(call: CommandInvocation, path: string, next: string): CommandError {
  const isUsual = call.option('home') === undefined && existsSync(path)
  return isUsual && isHomeHidden(call, path)
    ? createHiddenHomeError(path)
    : new CommandError(`there is no home in ${path}; ${next}`)
}

/** Reports whether this user may write into a directory. */
export function isWritable(directory: string): boolean {
  const { R_OK, W_OK, X_OK } = constants
  try {
    accessSync(directory, R_OK | W_OK | X_OK)
    return true
  } catch {
    return false
  }
}
