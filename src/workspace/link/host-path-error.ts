/** A failure of the system at a path of a linked directory, which names that path and not the descriptor it was reached by. */
export class HostPathError extends Error {
  readonly code: string
  readonly path: string

  constructor(code: string, path: string, message: string, cause?: unknown) {
    super(message, { cause })
    this.code = code
    this.path = path
  }

  /** A failure of a step at a path; what the system did not say stays as it is. */
  static wrap(error: unknown, path: string): unknown {
    if (error instanceof HostPathError || !(error instanceof Error) || !('code' in error)) return error
    const [what] = error.message.split(" '")
    return new HostPathError(String(error.code), path, `${what} '${path}'`, error)
  }
}
