import { z } from 'zod'
import { VfsError } from '../../vfs/index.ts'

/** Limit of a value repeated in a message. */
const MAX_SHOWN_CHARACTERS = 60

/**
 * Parses a request by a schema. EINVAL lists each problem and the valid arguments; with `isSecret` it
 * repeats no value.
 */
export function parseDeviceRequest<Request>(
  path: string,
  schema: z.ZodType<Request>,
  value: unknown,
  { isSecret = false }: { readonly isSecret?: boolean } = {},
): Request {
  const result = schema.safeParse(value)
  if (result.success) return result.data
  const problems = keepFirstIssues(result.error.issues).map((issue) => formatIssue(issue, value, isSecret))
  const detail = `${problems.join('; ')}. It takes ${formatArguments(schema)}`
  throw new VfsError('EINVAL', path, { op: 'write', detail })
}

/** Converts a schema to the JSON Schema that models see. */
export function toJsonSchema(schema: z.ZodType): Readonly<Record<string, unknown>> {
  const { $schema: _, ...jsonSchema } = z.toJSONSchema(schema, { io: 'input' })
  return jsonSchema
}

/** Keeps the first issue of each argument: later ones often follow from it. */
function keepFirstIssues(issues: readonly z.core.$ZodIssue[]): z.core.$ZodIssue[] {
  const seenKeys = new Set<string>()
  return issues.filter(({ path }) => {
    const key = path.join('.')
    const isFirst = !seenKeys.has(key)
    seenKeys.add(key)
    return isFirst
  })
}

function formatIssue(issue: z.core.$ZodIssue, value: unknown, isSecret: boolean): string {
  if (issue.code === 'unrecognized_keys') return `there is no argument ${quoteKeys(issue.keys)}`
  const name = issue.path.join('.')
  const message = formatIssueMessage(issue)
  if (name === '') return message
  const given = getValueAt(value, issue.path)
  if (given === undefined) return issue.code === 'custom' ? `'${name}': ${message}` : `'${name}' is missing`
  return isSecret ? `'${name}': ${message}` : `'${name}': ${message}; given: ${formatValue(given)}`
}

/** Returns a schema's own message; replaces Zod's wording for values that are too small. */
function formatIssueMessage(issue: z.core.$ZodIssue): string {
  if (issue.code !== 'too_small' || !issue.message.startsWith('Too small'))
    return issue.message.replace(/^Invalid (?:input|option): /, '')
  if (issue.origin === 'string' && Number(issue.minimum) === 1) return 'must not be empty'
  if (issue.origin !== 'number') return issue.message
  return issue.inclusive === true ? `must be at least ${issue.minimum}` : `must be more than ${issue.minimum}`
}

function getValueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  let found = value
  for (const key of path) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, key)) return undefined
    found = Reflect.get(found, key)
  }
  return found
}

/** Formats a value on one line; of an array only its length, of an object nothing. */
function formatValue(value: unknown): string {
  if (Array.isArray(value)) return `an array of ${value.length}`
  if (typeof value === 'object' && value !== null) return 'an object'
  const text = JSON.stringify(value)
  return text.length > MAX_SHOWN_CHARACTERS ? `${text.slice(0, MAX_SHOWN_CHARACTERS)}…` : text
}

function formatArguments(schema: z.ZodType): string {
  const { properties = {}, required = [] } = z.toJSONSchema(schema, { io: 'input' })
  const names = Object.keys(properties).map((name) => (required.includes(name) ? name : `${name}?`))
  return names.length === 0 ? 'an empty JSON object' : `{${names.join(', ')}}`
}

function quoteKeys(keys: readonly string[]): string {
  return keys.map((key) => `'${key.slice(0, MAX_SHOWN_CHARACTERS)}'`).join(', ')
}
