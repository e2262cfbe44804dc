/** A system error that names the path in a linked directory instead of its descriptor. */
export class HostPathError extends Error {
  readonly code: string
  readonly path: string

  constructor(code: string, path: string, message: string, cause?: unknown) {
    super(message, { cause })
    this.code = code
    this.path = path
  }

  /** Wraps a system error with its path; returns any other error unchanged. */
  static wrap(error: unknown, path: string): unknown {
    if (error instanceof HostPathError || !(error instanceof Error) || !('code' in error)) return error
    const [description] = error.message.split(" '")
    return new HostPathError(String(error.code), path, `${description} '${path}'`, error)
  }
}
