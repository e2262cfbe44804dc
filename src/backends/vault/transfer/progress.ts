/** The progress of a transfer. */
export interface TransferProgress {
  /** Finished files and links, operations of a stream, or steps of a history. */
  readonly done: number
  /** The total, if it is known. */
  readonly total?: number
  /** Bytes of content. */
  readonly bytes: number
}
