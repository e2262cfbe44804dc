/** Returns the message of an error for a model. */
export function getErrorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
