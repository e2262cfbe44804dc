/** What a schema has to say of a value. */
export interface Issue {
  readonly path: readonly PropertyKey[]
  readonly message: string
}

/** One line: where, and what is wrong there. */
export function issueText({ path, message }: Issue): string {
  return path.length === 0 ? message : `${path.map(String).join('.')}: ${message}`
}
