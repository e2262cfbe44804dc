/**
 * Puts the schema's name into SQL: `S.` stands for it as a part of a name, and `SCHEMA` for it in a string. Quoted,
 * because it may be a word of SQL, such as `user`.
 */
export function qualify(text: string, schema: string): string {
  return text.replaceAll(/\bS\./g, `"${schema}".`).replaceAll(/\bSCHEMA\b/g, schema)
}
