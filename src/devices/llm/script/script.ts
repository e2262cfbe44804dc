import { z } from 'zod'

/** Conditions a request must meet for an entry to be played; all texts must match. */
export interface Expectation {
  /** Texts that the intent of the process contains. */
  readonly intent: readonly string[]
  /** Texts that the system prompt contains. */
  readonly system_contains: readonly string[]
  /** Texts that some message contains. */
  readonly contains: readonly string[]
  /** Patterns for some message, newest first; later texts can use named groups as `{{name}}`. */
  readonly matches: readonly string[]
  readonly last_message_contains: readonly string[]
  readonly last_message_matches: readonly string[]
  /** Names of tools that must be offered. */
  readonly tools: readonly string[]
}

interface ScriptedCall {
  readonly name: string
  readonly input?: unknown
  readonly id?: string | undefined
}

/** A text, a JSON action, or native tool calls. */
type ScriptedResponse =
  | string
  | { readonly tool_call: ScriptedCall; readonly text?: string | undefined }
  | { readonly tool_calls: readonly ScriptedCall[]; readonly text?: string | undefined }
  | { readonly action: string }

/** One response and the request it expects. */
export interface ScriptEntry {
  readonly expect: Expectation
  readonly say: ScriptedResponse
  readonly tokens: number
  readonly delay_ms: number
}

/** A script as written in its file. */
export interface ScriptText {
  /** True if all conversations share one position; otherwise each starts at the beginning. */
  readonly shared: boolean
  readonly script: readonly ScriptEntry[]
}

const texts = z.union([z.string(), z.array(z.string()).min(1)], {
  error: 'must be a text or a list of texts',
})
const textList = texts.default([]).transform((given) => [given].flat())
const patterns = textList.refine((given) => given.every(isPattern), 'not a valid regular expression')

const expectation = z.strictObject({
  intent: textList,
  system_contains: textList,
  contains: textList,
  matches: patterns,
  last_message_contains: textList,
  last_message_matches: patterns,
  tools: textList,
})

const scriptedCall = z.strictObject({
  name: z.string().min(1),
  input: z.unknown().optional(),
  id: z.string().optional(),
})

const saying = z.union(
  [
    z.string(),
    z.strictObject({ tool_call: scriptedCall, text: z.string().optional() }),
    z.strictObject({ tool_calls: z.array(scriptedCall).min(1), text: z.string().optional() }),
    z.looseObject({ action: z.string().min(1) }),
  ],
  { error: 'a text, {action: …}, {tool_call: {name, input}} or {tool_calls: [{name, input}]}' },
)

const entrySchema = z.strictObject({
  expect: expectation.prefault({}),
  say: saying,
  tokens: z.int().nonnegative().default(0),
  delay_ms: z.int().nonnegative().default(0),
})

const fileSchema = z.strictObject({
  shared: z.boolean().default(false),
  script: z.array(entrySchema).min(1, 'a script has at least one entry'),
})

export const scriptSchema: z.ZodType<ScriptText> = fileSchema

/** Returns the keys of the object at a path of a script: the file, an entry or its conditions; else undefined. */
export function listScriptKeys(path: readonly PropertyKey[]): string[] | undefined {
  if (path.length === 0) return Object.keys(fileSchema.shape)
  if (path.length === 2) return Object.keys(entrySchema.shape)
  return path.at(-1) === 'expect' ? Object.keys(expectation.shape) : undefined
}

function isPattern(text: string): boolean {
  try {
    return new RegExp(text, 'u').unicode
  } catch {
    return false
  }
}
