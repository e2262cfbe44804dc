/** A problem that a schema found in a value. */
export interface SchemaIssue {
  readonly path: readonly PropertyKey[]
  readonly message: string
}

/** A problem as schemas report it. */
export interface StandardIssue {
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined
  readonly message: string
}

/** Formats a problem on one line: path and message. */
export function formatIssue({ path, message }: SchemaIssue): string {
  return path.length === 0 ? message : `${path.map(String).join('.')}: ${message}`
}

/** Converts an issue of the Standard Schema interface, whose path may have objects as segments. */
export function toSchemaIssue({ path = [], message }: StandardIssue): SchemaIssue {
  return { path: path.map((part) => (typeof part === 'object' ? part.key : part)), message }
}
