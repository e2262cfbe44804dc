import { VfsError } from '../../vfs/index.ts'

/** Parses a query into its values. EINVAL for a name that is there twice: it could be read in two ways. */
export function parseQuery(query: string): Record<string, string> {
  const values = new Map<string, string>()
  for (const [name, value] of new URLSearchParams(query)) {
    if (values.has(name)) {
      const detail = `'${name}' was given twice`
      throw new VfsError('EINVAL', '/', { op: 'request', detail })
    }
    values.set(name, value)
  }
  return Object.fromEntries(values)
}
