import type { ModelRequest } from '../../../kernel/index.ts'

/** Returns the system prompt with the tools described as text, for programs without tool calling. */
export function withToolInstructions({ system_prompt, tools }: ModelRequest): string {
  if (tools.length === 0) return system_prompt
  const described = tools.map(
    ({ name, description, input_schema }) =>
      `- ${name}: ${description}\n  input: ${JSON.stringify(input_schema)}`,
  )
  const instructions = [
    '# Tools',
    '',
    'You act by answering with JSON and nothing else. It is carried out for you, and you receive the outcome.',
    '- {"action": "tool_call", "tool": "<name>", "input": {…}} calls one of the tools below. Several calls are a JSON list of these: they run in order.',
    '- {"action": "complete", "result": "…"} ends your work; plain text does so too.',
    '',
    ...described,
  ].join('\n')
  return system_prompt === '' ? instructions : `${system_prompt}\n\n${instructions}`
}
