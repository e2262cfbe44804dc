import type { ToolParameters } from './wire-types.ts'

/** Keywords that strict mode does not support everywhere; the registry still enforces them. */
const DROPPED_KEYS: ReadonlySet<string> = new Set([
  'default',
  'minLength',
  'maxLength',
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'minItems',
  'maxItems',
])
const KEPT_KEYS: ReadonlySet<string> = new Set(['type', 'description', 'enum', 'items'])
const SCALARS: ReadonlySet<unknown> = new Set(['string', 'integer', 'number', 'boolean'])

/**
 * Converts a schema for strict mode: all arguments are required, and null stands for an omitted one.
 * Null if strict mode cannot express the schema.
 */
export function toStrictSchema(schema: Readonly<ToolParameters>): ToolParameters | null {
  const { $schema: _, type, properties = {}, required = [], additionalProperties, ...rest } = schema
  const isPlain = type === 'object' && additionalProperties === false && Object.keys(rest).length === 0
  if (!isPlain || !isRecord(properties) || !Array.isArray(required)) return null
  const strict: Record<string, unknown> = {}
  for (const [name, property] of Object.entries(properties)) {
    const strictProperty = toStrictProperty(property)
    if (strictProperty === null) return null
    strict[name] = required.includes(name) ? strictProperty : toNullable(strictProperty, property)
  }
  return { type, properties: strict, required: Object.keys(strict), additionalProperties: false }
}

/** Removes the nulls of omitted arguments. */
export function withoutNulls(args: unknown): unknown {
  if (!isRecord(args)) return args
  return Object.fromEntries(Object.entries(args).filter(([, value]) => value !== null))
}

/** Converts a scalar, an enum, or a list of those; null for anything else. */
function toStrictProperty(property: unknown): Record<string, unknown> | null {
  if (!isRecord(property)) return null
  const entries = Object.entries(property).filter(([key]) => !DROPPED_KEYS.has(key))
  if (entries.some(([key]) => !KEPT_KEYS.has(key))) return null
  const kept = Object.fromEntries(entries)
  if (SCALARS.has(kept['type'])) return kept
  if (kept['type'] !== 'array') return null
  const items = toStrictProperty(kept['items'])
  return items === null ? null : { ...kept, items }
}

function toNullable(strict: Record<string, unknown>, given: unknown): Record<string, unknown> {
  const { type, description, enum: choices } = strict
  const text = [description, formatDefault(given)].filter((part) => typeof part === 'string').join(' ')
  return {
    ...strict,
    type: [type, 'null'],
    description: text,
    ...(Array.isArray(choices) && { enum: [...choices, null] }),
  }
}

function formatDefault(property: unknown): string | undefined {
  if (!isRecord(property) || property['default'] === undefined) return undefined
  return `Null: ${JSON.stringify(property['default'])}.`
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
