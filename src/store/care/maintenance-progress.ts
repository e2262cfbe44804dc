/** Progress of a long task. `total` is the number known so far, and may grow. */
export interface MaintenanceProgress {
  readonly phase: string
  readonly done: number
  readonly total: number
}

/** Options of work on a whole home: progress and cancellation. */
export interface MaintenanceOptions {
  readonly onProgress?: (progress: MaintenanceProgress) => void
  readonly signal?: AbortSignal
}
