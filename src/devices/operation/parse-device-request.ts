import { z } from 'zod'
import { VfsError } from '../../vfs/index.ts'

/** What is longer is cut where a message repeats what was given. */
const MAX_SHOWN_CHARACTERS = 60

/**
 * A request that fits a schema. EINVAL, with what is wrong with each argument and which there are; what was given is not
 * repeated where it is secret.
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

/** A schema as models are told of it. */
export function toJsonSchema(schema: z.ZodType): Readonly<Record<string, unknown>> {
  const { $schema: _, ...told } = z.toJSONSchema(schema, { io: 'input' })
  return told
}

/** What is wrong with an argument in one way is often wrong in a second: the first says enough. */
function keepFirstIssues(issues: readonly z.core.$ZodIssue[]): z.core.$ZodIssue[] {
  const met = new Set<string>()
  return issues.filter(({ path }) => {
    const key = path.join('.')
    const isFirst = !met.has(key)
    met.add(key)
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

/** What a schema says in its own words is told so; the usual words for what is too small are for programmers. */
function formatIssueMessage(issue: z.core.$ZodIssue): string {
  if (issue.code !== 'too_small' || !issue.message.startsWith('Too small'))
    return issue.message.replace(/^Invalid (?:input|option): /, '')
  if (issue.origin === 'string' && Number(issue.minimum) === 1) return 'it is empty'
  if (issue.origin !== 'number') return issue.message
  return issue.inclusive === true ? `it is at least ${issue.minimum}` : `it is more than ${issue.minimum}`
}

function getValueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  let found = value
  for (const key of path) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, key)) return undefined
    found = Reflect.get(found, key)
  }
  return found
}

/** A value on one line; of what holds others, only how many. */
function formatValue(value: unknown): string {
  if (Array.isArray(value)) return `an array of ${value.length}`
  if (typeof value === 'object' && value !== null) return 'an object'
  const text = JSON.stringify(value)
  return text.length > MAX_SHOWN_CHARACTERS ? `${text.slice(0, MAX_SHOWN_CHARACTERS)}…` : text
}

function formatArguments(schema: z.ZodType): string {
  const { properties = {}, required = [] } = z.toJSONSchema(schema, { io: 'input' })
  const names = Object.keys(properties).map((name) => (required.includes(name) ? name : `${name}?`))
  return names.length === 0 ? 'a JSON object with nothing in it' : `{${names.join(', ')}}`
}

function quoteKeys(keys: readonly string[]): string {
  return keys.map((key) => `'${key.slice(0, MAX_SHOWN_CHARACTERS)}'`).join(', ')
}
