import { z } from 'zod'
import { meantArgument } from './argument-names.ts'
import type { Tool } from './tool.ts'

/** What is longer is cut where a message repeats what was given. */
const MAX_SHOWN_CHARACTERS = 60

/** Arguments that fit a tool, or what is wrong with them, in words a model can act on. */
export type ParsedArguments = { readonly args: unknown } | { readonly problem: string }

/** Checks what a model gave against a tool's schema; no arguments at all count as an empty object. */
export function parseArguments(tool: Tool, given: unknown = {}): ParsedArguments {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    return { problem: `the arguments must be a JSON object with ${listed(tool)}, not ${shown(given)}` }
  }
  const result = tool.schema.safeParse(given)
  if (result.success) return { args: result.data }
  const problems = firstOfEach(result.error.issues).flatMap((issue) => told(issue, given, tool))
  return { problem: problems.join('; ') }
}

/** What is wrong with an argument in one way is often wrong in a second: the first says enough. */
function firstOfEach(issues: readonly z.core.$ZodIssue[]): z.core.$ZodIssue[] {
  const met = new Map(issues.toReversed().map((issue) => [issue.path[0] ?? issue.code, issue]))
  return issues.filter((issue) => [...met.values()].includes(issue))
}

/** The names of a tool's arguments. */
function namesOf({ schema }: Tool): string[] {
  return Object.keys(z.toJSONSchema(schema, { io: 'input' }).properties ?? {})
}

function told(issue: z.core.$ZodIssue, given: object, tool: Tool): string[] {
  if (issue.code === 'unrecognized_keys') return issue.keys.map((key) => unknownArgument(key, given, tool))
  const [name] = issue.path
  if (name === undefined) return [issue.message]
  const value: unknown = Reflect.get(given, name)
  if (value === undefined && issue.code === 'invalid_type') return [`'${String(name)}' is missing`]
  const message = issue.message.replace(/^Invalid (?:input|option): /, '')
  return [
    value === undefined
      ? `'${String(name)}': ${message}`
      : `'${String(name)}': ${message}; given: ${shown(value)}`,
  ]
}

function unknownArgument(key: string, given: object, tool: Tool): string {
  const known = namesOf(tool)
  const free = known.filter((name) => !Object.hasOwn(given, name))
  const meant = meantArgument(key, free)
  const hint = meant === undefined ? '' : `: it is called '${meant}' here`
  return `there is no argument '${key}'${hint}; ${tool.name} takes ${known.join(', ')}`
}

function listed(tool: Tool): string {
  return namesOf(tool).join(', ') || 'nothing in it'
}

/** A value as it was given, on one line. */
function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value)
  return text.length > MAX_SHOWN_CHARACTERS ? `${text.slice(0, MAX_SHOWN_CHARACTERS)}…` : text
}
