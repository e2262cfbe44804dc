import { getToolReach, type ToolReach } from './tool-reach.ts'

/** Programs whose hook events are understood. */
export const agentNames = ['claude', 'codex', 'cursor', 'gemini'] as const
export type AgentName = (typeof agentNames)[number]

type AgentEventKind = 'session-start' | 'prompt' | 'before-tool' | 'after-tool' | 'stop' | 'session-end'

/** A call of a tool as an agent reports it. */
export interface ReportedCall {
  /** The same before and after the call. */
  readonly id: string
  readonly tool: string
  /** The command line, or the file. */
  readonly summary: string
  readonly reach: ToolReach
}

/** An event of an agent's session, in one form for all programs. */
export interface AgentEvent {
  readonly agent: AgentName
  readonly kind: AgentEventKind
  readonly session: string
  /** The agent's working directory; undefined if the event has none. */
  readonly directory: string | undefined
  readonly prompt?: string
  readonly call?: ReportedCall
}

/** Events by their names: Claude Code and Codex, then Cursor, then Gemini CLI. */
const KINDS: Readonly<Record<string, AgentEventKind>> = {
  SessionStart: 'session-start',
  UserPromptSubmit: 'prompt',
  PreToolUse: 'before-tool',
  PostToolUse: 'after-tool',
  PostToolUseFailure: 'after-tool',
  Stop: 'stop',
  StopFailure: 'stop',
  SessionEnd: 'session-end',
  sessionStart: 'session-start',
  beforeSubmitPrompt: 'prompt',
  preToolUse: 'before-tool',
  postToolUse: 'after-tool',
  postToolUseFailure: 'after-tool',
  stop: 'stop',
  sessionEnd: 'session-end',
  BeforeAgent: 'prompt',
  BeforeTool: 'before-tool',
  AfterTool: 'after-tool',
  AfterAgent: 'stop',
}

const MAX_PROMPT_CHARACTERS = 2000
const MAX_SUMMARY_CHARACTERS = 200
const MAX_ID_CHARACTERS = 500

/** Parses an event as a program writes it; undefined for an event of no interest. Throws SyntaxError if it is not JSON. */
export function parseAgentEvent(agent: AgentName, text: string): AgentEvent | undefined {
  const fields = toTable(JSON.parse(text))
  const kind = KINDS[toText(fields['hook_event_name'])]
  if (kind === undefined) return undefined
  const [root] = Array.isArray(fields['workspace_roots']) ? fields['workspace_roots'] : []
  const directory = toText(fields['cwd']) || toText(root) || undefined
  const session = toText(fields['session_id']) || toText(fields['conversation_id']) || agent
  const event = { agent, kind, session, directory }
  if (kind === 'prompt') return { ...event, prompt: shorten(toText(fields['prompt']), MAX_PROMPT_CHARACTERS) }
  return kind === 'before-tool' || kind === 'after-tool' ? { ...event, call: parseCall(fields) } : event
}

function parseCall(fields: Readonly<Record<string, unknown>>): ReportedCall {
  const tool = toText(fields['tool_name']) || 'tool'
  const input = toTable(fields['tool_input'])
  const { reach, subject } = getToolReach(tool, input)
  // Gemini CLI numbers no calls. Two equal ones at once change the same.
  const id = toText(fields['tool_use_id']) || `${tool} ${JSON.stringify(input)}`.slice(0, MAX_ID_CHARACTERS)
  return { id, tool, summary: shorten(subject, MAX_SUMMARY_CHARACTERS), reach }
}

function toTable(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? { ...value } : {}
}

function toText(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

function shorten(text: string, length: number): string {
  return text.length > length ? `${text.slice(0, length)}…` : text
}
