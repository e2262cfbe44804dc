/** The operation, path and signal that a request belongs to. */
export interface S3Call {
  readonly op: string
  readonly path: string
  readonly signal: AbortSignal | undefined
}
