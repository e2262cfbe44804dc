/** How far a long piece of work has come. `total` is what is known so far, and may grow. */
export interface Progress {
  readonly phase: string
  readonly done: number
  readonly total: number
}

export interface LongWork {
  readonly onProgress?: (progress: Progress) => void
  readonly signal?: AbortSignal
}
