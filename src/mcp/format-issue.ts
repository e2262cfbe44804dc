/** A problem that a schema found in a value. */
export interface SchemaIssue {
  readonly path: readonly PropertyKey[]
  readonly message: string
}

/** Formats a problem on one line: path and message. */
export function formatIssue({ path, message }: SchemaIssue): string {
  return path.length === 0 ? message : `${path.map(String).join('.')}: ${message}`
}
