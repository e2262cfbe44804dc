/** What a subject's process tells its parent: that a work begins, then the time of one operation. */
export interface Message {
  readonly work: string
  /** Null while it is not known yet. */
  readonly secondsPerOperation: number | null
}

export function isMessage(message: unknown): message is Message {
  return (
    typeof message === 'object' &&
    message !== null &&
    'work' in message &&
    typeof message.work === 'string' &&
    'secondsPerOperation' in message &&
    (message.secondsPerOperation === null || typeof message.secondsPerOperation === 'number')
  )
}
