/** A failure of the system at a path of a linked directory, which names that path and not the descriptor it was reached by. */
export class HostFailure extends Error {
  readonly code: string
  readonly path: string

  constructor(code: string, path: string, message: string, cause?: unknown) {
    super(message, { cause })
    this.code = code
    this.path = path
  }

  /** A failure of a step at a path; what the system did not say stays as it is. */
  static of(error: unknown, path: string): unknown {
    if (error instanceof HostFailure || !(error instanceof Error) || !('code' in error)) return error
    const [what] = error.message.split(" '")
    return new HostFailure(String(error.code), path, `${what} '${path}'`, error)
  }
}
