/** A refused request: its status and a message. */
export interface HttpRefusal {
  readonly status: 400 | 401 | 403 | 404 | 405 | 411 | 413 | 415 | 417 | 429 | 503
  readonly message: string
  readonly headers?: Readonly<Record<string, string>>
}
