import type { ContextMessage } from '../../../kernel/index.ts'

const SYSTEM_MARKER = '[System Instructions]'
/** Matches a line of a message that could pass for a role marker. */
const MARKER_PATTERN = /^(\\*)\[(?=(?:System Instructions|User|Assistant|Tool Result)\b)/gm

/**
 * Formats a conversation as one prompt. A single message of a user, without a system prompt, stays as it is; otherwise
 * each part has a marker with its role above it, the system prompt first. A message line that looks like a marker gets
 * a backslash before it.
 */
export function formatTranscript(messages: readonly ContextMessage[], systemPrompt = ''): string {
  const [first] = messages
  if (systemPrompt === '' && messages.length === 1 && first?.role === 'user') return first.content
  const system = systemPrompt === '' ? [] : [`${SYSTEM_MARKER}\n${systemPrompt}`]
  const spoken = messages.map((message) => `${formatMarker(message)}\n${escapeMarkers(message.content)}`)
  return [...system, ...spoken].join('\n\n')
}

function formatMarker({ role, tool_call_id: id }: ContextMessage): string {
  switch (role) {
    case 'system':
      return SYSTEM_MARKER
    case 'user':
      return '[User]'
    case 'assistant':
      return '[Assistant]'
    case 'tool':
      return id === undefined ? '[Tool Result]' : `[Tool Result ${id.replaceAll(/[^\w.:-]/g, '_')}]`
  }
}

function escapeMarkers(content: string): string {
  return content.replaceAll(MARKER_PATTERN, '\\$1[')
}
