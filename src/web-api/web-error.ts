/** Body of a response with an HTTP status of 400 or more. */
export interface WebErrorBody {
  readonly error: {
    /** Code of the error, such as `ENOENT`, `ECONFLICT` or `EACCES`. */
    readonly code: string
    /** A sentence for people: the failure, and the next step. */
    readonly message: string
    readonly path?: string
  }
}
