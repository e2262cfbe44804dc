import { z } from 'zod'
import { isActionTool } from './action-tools.ts'

/** An action that a model requests. */
export type AgentAction =
  /** `tool` is a tool name, or the path of a device or file. */
  | {
      readonly action: 'tool_call'
      readonly tool: string
      readonly input?: unknown
      readonly id?: string | undefined
    }
  | { readonly action: 'plan'; readonly steps: readonly string[] }
  | { readonly action: 'replan'; readonly steps: readonly string[]; readonly reason?: string | undefined }
  | {
      readonly action: 'spawn'
      readonly intent: string
      readonly agent?: string | undefined
      readonly provider?: string | undefined
      readonly model?: string | undefined
      readonly wait: boolean
    }
  | { readonly action: 'complete'; readonly result: string }
  | { readonly action: 'specialize'; readonly skill: string }

const MAX_QUOTED_CHARACTERS = 200

const nonEmptyText = z.string().min(1)
const stepsSchema = z.array(z.string()).min(1)

const actionSchema: z.ZodType<AgentAction> = z.discriminatedUnion('action', [
  z.object({
    action: z.literal('tool_call'),
    tool: nonEmptyText,
    input: z.unknown().optional(),
    id: z.string().optional(),
  }),
  z.object({ action: z.literal('plan'), steps: stepsSchema }),
  z.object({ action: z.literal('replan'), steps: stepsSchema, reason: z.string().optional() }),
  z.object({
    action: z.literal('spawn'),
    intent: nonEmptyText,
    agent: z.string().optional(),
    provider: z.string().optional(),
    model: z.string().optional(),
    wait: z.boolean().default(true),
  }),
  z.object({ action: z.literal('complete'), result: z.string() }),
  z.object({ action: z.literal('specialize'), skill: nonEmptyText }),
])

/**
 * Converts a tool call that names an action, such as `plan`, to that action. Other tool calls stay as they are.
 * Arguments that are no object are a problem: providers pass on what a model wrote, even if it is not valid JSON.
 */
export function resolveAction(action: AgentAction): AgentAction | { readonly problem: string } {
  if (action.action !== 'tool_call' || action.tool.startsWith('/')) return action
  const input = action.input ?? {}
  if (!isArguments(input)) return { problem: formatWrongArguments(action.tool, input) }
  if (!isActionTool(action.tool)) return action
  const result = actionSchema.safeParse({ ...input, action: action.tool })
  return result.success ? result.data : { problem: formatIssue(result.error) }
}

function isArguments(input: unknown): input is object {
  return typeof input === 'object' && input !== null && !Array.isArray(input)
}

function formatWrongArguments(tool: string, input: unknown): string {
  const text = typeof input === 'string' ? input : JSON.stringify(input)
  const start = text.slice(0, MAX_QUOTED_CHARACTERS).toWellFormed()
  return `the input of '${tool}' is not a valid JSON object: ${start}${start.length < text.length ? '…' : ''}`
}

/** A parsed answer: actions, final text, or the problem of a malformed action. */
export type ModelAnswer =
  | { readonly actions: readonly [AgentAction, ...AgentAction[]] }
  | { readonly text: string }
  | { readonly problem: string }

const FENCED = /^\s*```(?:json)?\s*\n([\s\S]*?)\n\s*```\s*$/

/** Parses an answer: one JSON action, or tool calls as a list or one per line, bare or fenced; otherwise text. */
export function parseAnswer(content: string): ModelAnswer {
  const [, fenced] = content.match(FENCED) ?? []
  const candidate = (fenced ?? content).trim()
  if (!/^[{[]/.test(candidate)) return { text: content }
  const values = parseValues(candidate)
  // Text may begin with a brace. Only JSON with an action field is an action.
  if (values === undefined)
    return startsLikeAction(candidate) ? { problem: 'the action is not valid JSON' } : { text: content }
  if (values.length === 0 || !values.every(hasActionField)) return { text: content }
  return parseActions(values)
}

function parseActions(values: readonly unknown[]): ModelAnswer {
  const actions: AgentAction[] = []
  for (const value of values) {
    const result = actionSchema.safeParse(value)
    if (!result.success) return { problem: formatIssue(result.error) }
    actions.push(result.data)
  }
  const [first, ...others] = actions
  if (first === undefined) return { problem: 'it contains no action' }
  if (others.length > 0 && actions.some(({ action }) => action !== 'tool_call'))
    return { problem: 'several actions in one answer must all be tool_call' }
  return { actions: [first, ...others] }
}

function hasActionField(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'action' in value
}

/** Parses one value, the items of a list, or one value per line. */
function parseValues(text: string): readonly unknown[] | undefined {
  const value = parseJson(text)
  if (value !== undefined) return Array.isArray(value) ? value : [value]
  const values = text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map(parseJson)
  return values.length > 1 && values.every(hasActionField) ? values : undefined
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function startsLikeAction(text: string): boolean {
  return /^\{\s*"action"\s*:/.test(text)
}

function formatIssue({ issues: [issue] }: z.ZodError): string {
  if (issue === undefined) return 'the action is malformed'
  const keyPath = issue.path.join('.')
  if (keyPath === 'action') return `the action is one of ${actionNames.join(', ')}`
  return `'${keyPath}' of the action: ${issue.message}`
}

const actionNames: readonly AgentAction['action'][] = [
  'tool_call',
  'plan',
  'spawn',
  'complete',
  'specialize',
  'replan',
]
