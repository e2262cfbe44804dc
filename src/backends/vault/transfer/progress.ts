/** How far a transfer is. */
export interface TransferProgress {
  /** Files and links, or operations of a stream. */
  readonly done: number
  /** How many there are, where that is known. */
  readonly total?: number
  /** Of content. */
  readonly bytes: number
}
