import type { ModelRequest } from '../../../kernel/index.ts'
import type { Expectation } from './script.ts'

/** Match of a request against an expectation: the values of its named groups, or the first mismatch. */
export type MatchResult =
  | { readonly groups: Readonly<Record<string, string>> }
  | { readonly expected: string; readonly actual: string }

/** Texts to search, newest first, and their name in messages. */
interface SearchedText {
  readonly name: string
  readonly texts: readonly string[]
}

/** Checks the conditions of an expectation in turn. */
export function matchRequest(expect: Expectation, request: ModelRequest): MatchResult {
  const messages = request.messages.map(({ content }) => content).reverse()
  const last: SearchedText = { name: 'the last message', texts: messages.slice(0, 1) }
  const any: SearchedText = { name: 'some message', texts: messages }
  const intent: SearchedText = { name: 'the intent', texts: [request.intent] }
  const system: SearchedText = { name: 'the system prompt', texts: [request.system_prompt] }
  const offered = request.tools.map(({ name }) => name)
  const missing =
    findMissingText(intent, expect.intent) ??
    findMissingText(system, expect.system_contains) ??
    findMissingText(any, expect.contains) ??
    findMissingText(last, expect.last_message_contains) ??
    findMissingMatch(any, expect.matches) ??
    findMissingMatch(last, expect.last_message_matches) ??
    findMissingTool(offered, expect.tools)
  if (missing !== undefined) return missing
  return {
    groups: { ...collectGroups(any, expect.matches), ...collectGroups(last, expect.last_message_matches) },
  }
}

type Mismatch = Extract<MatchResult, { expected: string }>

function findMissingText({ name, texts }: SearchedText, wanted: readonly string[]): Mismatch | undefined {
  const missing = wanted.find((part) => !texts.some((text) => text.includes(part)))
  if (missing === undefined) return undefined
  return { expected: `${name} to contain ${JSON.stringify(missing)}`, actual: texts[0] ?? '' }
}

function findMissingMatch(searched: SearchedText, wanted: readonly string[]): Mismatch | undefined {
  const missing = wanted.find((pattern) => findMatch(searched, pattern) === undefined)
  if (missing === undefined) return undefined
  return { expected: `${searched.name} to match /${missing}/`, actual: searched.texts[0] ?? '' }
}

function findMissingTool(offered: readonly string[], wanted: readonly string[]): Mismatch | undefined {
  const missing = wanted.find((name) => !offered.includes(name))
  if (missing === undefined) return undefined
  return { expected: `the tool '${missing}' to be offered`, actual: offered.join(', ') }
}

function collectGroups(searched: SearchedText, patterns: readonly string[]): Record<string, string> {
  return Object.assign({}, ...patterns.map((pattern) => findMatch(searched, pattern)?.groups))
}

function findMatch({ texts }: SearchedText, pattern: string): RegExpExecArray | undefined {
  const expression = new RegExp(pattern, 'u')
  for (const text of texts) {
    const match = expression.exec(text)
    if (match !== null) return match
  }
  return undefined
}
