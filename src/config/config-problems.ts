import type { z } from 'zod'
import { findNearest } from '../text/index.ts'
import type { ConfigProblem } from './config-error.ts'
import type { KeyLines } from './key-lines.ts'

type Keys = readonly (string | number)[]

/**
 * Formats the problems that the schema found, each with its line. The message of an issue names the expected value ("a
 * number of seconds"); that of an unknown key lists the known ones ("exclude, watch"). `config-schema.ts` writes them.
 */
export function formatProblems(
  issues: readonly z.core.$ZodIssue[],
  values: unknown,
  lines: KeyLines,
): ConfigProblem[] {
  return issues.flatMap((issue) => {
    const keys = issue.path.map((key) => (typeof key === 'number' ? key : String(key)))
    if (issue.code !== 'unrecognized_keys') {
      return [{ line: lines.getLine(keys), message: formatIssue(issue, keys, getValueAt(values, keys)) }]
    }
    return issue.keys.map((key) => ({
      line: lines.getLine([...keys, key]),
      message: formatUnknownKey([...keys, key], issue.message.split(', ')),
    }))
  })
}

function formatIssue(issue: z.core.$ZodIssue, keys: Keys, value: unknown): string {
  if (issue.code === 'custom' && typeof issue.params?.['problem'] === 'string') return issue.params['problem']
  const key = formatKey(keys)
  if (value === undefined) return `${key} is missing: ${issue.message}`
  return `${key} must be ${issue.message}, not ${JSON.stringify(value)}${formatHint(value, issue)}`
}

function formatUnknownKey(keys: Keys, knownNames: readonly string[]): string {
  const near = findNearest(String(keys.at(-1)), knownNames)
  const suggestion = near === undefined ? '' : `; did you mean '${near}'?`
  return `there is no setting '${formatKey(keys)}'; known: ${knownNames.join(', ')}${suggestion}`
}

/** Suggests a known value for a misspelt one. */
function formatHint(value: unknown, { message }: z.core.$ZodIssue): string {
  const [, choices] = message.match(/^one of (.+)$/) ?? []
  const near =
    typeof value === 'string' && choices !== undefined ? findNearest(value, choices.split(', ')) : undefined
  return near === undefined ? '' : `; did you mean '${near}'?`
}

/** Formats a key as TOML writes it: `mounts."/docs".access`. */
function formatKey(keys: Keys): string {
  return keys
    .map((key) => (/^[\w-]+$/.test(String(key)) ? String(key) : JSON.stringify(String(key))))
    .join('.')
}

function getValueAt(values: unknown, keys: Keys): unknown {
  let value = values
  for (const key of keys) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined
    value = Reflect.get(value, key)
  }
  return value
}
