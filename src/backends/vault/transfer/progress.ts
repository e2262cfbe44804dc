/** The progress of a transfer. */
export interface TransferProgress {
  /** Finished files and links, or operations of a stream. */
  readonly done: number
  /** The total, if it is known. */
  readonly total?: number
  /** Bytes of content. */
  readonly bytes: number
}
