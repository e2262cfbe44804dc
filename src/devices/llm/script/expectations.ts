import type { ModelRequest } from '../../../kernel/index.ts'
import type { Expectation } from './script.ts'

/** Whether a request is what was expected: what its named groups found, or the first thing that is not as it should be. */
export type Judgement =
  | { readonly found: Readonly<Record<string, string>> }
  | { readonly expected: string; readonly asked: string }

/** Where a text is looked for, newest first, and what that is called in a message. */
interface Place {
  readonly name: string
  readonly texts: readonly string[]
}

export function judge(expect: Expectation, request: ModelRequest): Judgement {
  const messages = request.messages.map(({ content }) => content).reverse()
  const last: Place = { name: 'the last message', texts: messages.slice(0, 1) }
  const any: Place = { name: 'some message', texts: messages }
  const intent: Place = { name: 'the intent', texts: [request.intent] }
  const system: Place = { name: 'the system prompt', texts: [request.system_prompt] }
  const offered = request.tools.map(({ name }) => name)
  const missing =
    withoutText(intent, expect.intent) ??
    withoutText(system, expect.system_contains) ??
    withoutText(any, expect.contains) ??
    withoutText(last, expect.last_message_contains) ??
    withoutMatch(any, expect.matches) ??
    withoutMatch(last, expect.last_message_matches) ??
    withoutTool(offered, expect.tools)
  if (missing !== undefined) return missing
  return {
    found: { ...groupsOf(any, expect.matches), ...groupsOf(last, expect.last_message_matches) },
  }
}

type Missing = Extract<Judgement, { expected: string }>

function withoutText({ name, texts }: Place, wanted: readonly string[]): Missing | undefined {
  const missing = wanted.find((part) => !texts.some((text) => text.includes(part)))
  if (missing === undefined) return undefined
  return { expected: `${name} to contain ${JSON.stringify(missing)}`, asked: texts[0] ?? '' }
}

function withoutMatch(place: Place, wanted: readonly string[]): Missing | undefined {
  const missing = wanted.find((pattern) => matchOf(place, pattern) === undefined)
  if (missing === undefined) return undefined
  return { expected: `${place.name} to match /${missing}/`, asked: place.texts[0] ?? '' }
}

function withoutTool(offered: readonly string[], wanted: readonly string[]): Missing | undefined {
  const missing = wanted.find((name) => !offered.includes(name))
  if (missing === undefined) return undefined
  return { expected: `the tool '${missing}' to be offered`, asked: offered.join(', ') }
}

function groupsOf(place: Place, patterns: readonly string[]): Record<string, string> {
  return Object.assign({}, ...patterns.map((pattern) => matchOf(place, pattern)?.groups))
}

function matchOf({ texts }: Place, pattern: string): RegExpExecArray | undefined {
  const expression = new RegExp(pattern, 'u')
  for (const text of texts) {
    const match = expression.exec(text)
    if (match !== null) return match
  }
  return undefined
}
