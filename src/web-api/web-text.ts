/** The beginning of a text. */
export interface WebText {
  readonly text: string
  /** Length of the whole text in characters. */
  readonly length: number
  readonly isCut: boolean
}
