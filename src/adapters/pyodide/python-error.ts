import type { UncaughtException } from './python-messages.ts'

/** An uncaught exception of Python. The message is its last line, as Python prints it. */
export class PythonError extends Error {
  override readonly name = 'PythonError'
  /** Name of the exception's class: `KeyError`. */
  readonly type: string
  readonly traceback: string
  /** Output of the program until then. */
  readonly stdout: string
  readonly stderr: string

  constructor(
    { type, traceback }: UncaughtException,
    output: { readonly stdout: string; readonly stderr: string } = { stdout: '', stderr: '' },
  ) {
    super(traceback.trimEnd().split('\n').at(-1) ?? type)
    this.type = type
    this.traceback = traceback
    this.stdout = output.stdout
    this.stderr = output.stderr
  }
}
