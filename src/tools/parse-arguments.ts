import { z } from 'zod'
import { suggestArgument } from './argument-names.ts'
import { truncateText } from './text/character-cut.ts'
import type { Tool } from './tool.ts'

/** Limit of a value repeated in a message. */
const MAX_SHOWN_CHARACTERS = 60
/** Limit of unknown arguments named in a message. */
const MAX_REPORTED_KEYS = 3

/** Valid arguments, or their problem in words a model can act on. */
export type ParsedArguments = { readonly args: unknown } | { readonly problem: string }

/** Validates a model's input against a tool's schema; missing arguments count as an empty object. */
export function parseArguments(tool: Tool, given: unknown = {}): ParsedArguments {
  try {
    return parseObject(tool, given)
  } catch {
    // An object of a program may throw on access; parsed JSON never does.
    return { problem: 'the arguments cannot be read; give a JSON object' }
  }
}

function parseObject(tool: Tool, given: unknown): ParsedArguments {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    return {
      problem: `the arguments must be a JSON object with ${formatArgumentNames(tool)}, not ${formatValue(given)}`,
    }
  }
  const result = tool.schema.safeParse(given)
  if (result.success) return { args: result.data }
  const problems = keepFirstIssues(result.error.issues).flatMap((issue) => formatIssue(issue, given, tool))
  return { problem: problems.join('; ') }
}

/** Keeps the first issue of each argument: later ones often follow from it. */
function keepFirstIssues(issues: readonly z.core.$ZodIssue[]): z.core.$ZodIssue[] {
  const firstIssues = new Map(issues.toReversed().map((issue) => [issue.path[0] ?? issue.code, issue]))
  return issues.filter((issue) => [...firstIssues.values()].includes(issue))
}

const argumentNames = new WeakMap<Tool, readonly string[]>()

/** Returns the names of a tool's arguments; cached, since this takes longer than most calls. */
function listArgumentNames(tool: Tool): readonly string[] {
  const names =
    argumentNames.get(tool) ?? Object.keys(z.toJSONSchema(tool.schema, { io: 'input' }).properties ?? {})
  argumentNames.set(tool, names)
  return names
}

function formatIssue(issue: z.core.$ZodIssue, given: object, tool: Tool): string[] {
  if (issue.code === 'unrecognized_keys') return formatUnknownArguments(issue.keys, given, tool)
  const [name] = issue.path
  if (name === undefined) return [issue.message]
  const value: unknown = Reflect.get(given, name)
  if (value === undefined && issue.code === 'invalid_type') return [`'${String(name)}' is missing`]
  const message = issue.message.replace(/^Invalid (?:input|option): /, '')
  return [
    value === undefined
      ? `'${String(name)}': ${message}`
      : `'${String(name)}': ${message}; given: ${formatValue(value)}`,
  ]
}

function formatUnknownArguments(keys: readonly string[], given: object, tool: Tool): string[] {
  const reported = keys.slice(0, MAX_REPORTED_KEYS).map((key) => formatUnknownArgument(key, given, tool))
  const more = keys.length - reported.length
  return more > 0 ? [...reported, `and ${more} more unknown arguments`] : reported
}

function formatUnknownArgument(whole: string, given: object, tool: Tool): string {
  const key = truncateText(whole, MAX_SHOWN_CHARACTERS)
  const names = listArgumentNames(tool)
  const unused = names.filter((name) => !Object.hasOwn(given, name))
  const suggestion = suggestArgument(key, unused)
  const hint = suggestion === undefined ? '' : `: it is called '${suggestion}' here`
  return `there is no argument '${key}'${hint}; ${tool.name} takes ${names.join(', ')}`
}

function formatArgumentNames(tool: Tool): string {
  return listArgumentNames(tool).join(', ') || 'no fields'
}

/** Formats a value on one line; of a container, only its size. */
function formatValue(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(truncateText(value, MAX_SHOWN_CHARACTERS))
  if (Array.isArray(value)) return `an array of ${value.length}`
  if (typeof value === 'object' && value !== null) return 'an object'
  return truncateText(String(value), MAX_SHOWN_CHARACTERS)
}
