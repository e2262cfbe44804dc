/** What a schema has to say of a value. */
export interface SchemaIssue {
  readonly path: readonly PropertyKey[]
  readonly message: string
}

/** One line: where, and what is wrong there. */
export function formatIssue({ path, message }: SchemaIssue): string {
  return path.length === 0 ? message : `${path.map(String).join('.')}: ${message}`
}
