/** For whom a request is made: what a failure names, and what cancels it. */
export interface S3Call {
  readonly op: string
  readonly path: string
  readonly signal: AbortSignal | undefined
}
