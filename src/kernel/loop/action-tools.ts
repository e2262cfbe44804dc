import type { ToolDefinition } from './model.ts'

/** Name of the tool that finds further tools. */
export const TOOL_SEARCH = 'tool_search'

const text = (description: string) => ({ type: 'string', description })
const steps = { type: 'array', items: { type: 'string' }, minItems: 1 }

function defineAction(
  name: string,
  description: string,
  properties: Readonly<Record<string, unknown>>,
  required: readonly string[],
): ToolDefinition {
  return { name, description, input_schema: { type: 'object', properties, required } }
}

/** The actions of a process as tools, for models that call tools natively. */
export const actionTools: readonly ToolDefinition[] = [
  defineAction('plan', 'Note the steps you intend to take.', { steps }, ['steps']),
  defineAction(
    'spawn',
    'Start a child process on a copy of your files as they are now. Merge its work with merge.',
    {
      intent: text('The task of the child, with everything it has to know.'),
      agent: text('Name of an agent; your own model without instructions when absent.'),
      provider: text('Provider of its model; yours when absent.'),
      model: text('Model; yours when absent.'),
      wait: {
        type: 'boolean',
        description: 'False returns at once: children run in parallel. Then use wait.',
      },
    },
    ['intent'],
  ),
  defineAction('complete', 'End your work with its result.', { result: text('The result.') }, ['result']),
]

/** Actions that are useful only to some processes; a search finds them. */
export const rareActionTools: readonly ToolDefinition[] = [
  defineAction(
    'replan',
    'Replace your plan by a new one.',
    { steps, reason: text('Why the old plan does not work.') },
    ['steps'],
  ),
  defineAction('specialize', 'Load a skill: its instructions join yours.', { skill: text('Its name.') }, [
    'skill',
  ]),
]

/** The search for tools that are not offered from the beginning. */
export const toolSearchTool: ToolDefinition = {
  name: TOOL_SEARCH,
  description: 'Find further tools by words, and get to use them from the next step on.',
  input_schema: {
    type: 'object',
    properties: { query: text('What you want to do, such as "fetch a web page".') },
    required: ['query'],
  },
}

const actionNames: ReadonlySet<string> = new Set([...actionTools, ...rareActionTools].map(({ name }) => name))

/** True for the name of a tool that is an action of the process itself. */
export function isActionTool(name: string): boolean {
  return actionNames.has(name)
}
