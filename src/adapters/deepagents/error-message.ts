/** What a model is told of an error. */
export function getErrorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
