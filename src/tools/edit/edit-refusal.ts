/** Reason for refusing an edit, and what to do. */
export interface EditRefusal {
  readonly refusal: string
  /** EINVAL when absent. */
  readonly code?: 'EFBIG'
}
