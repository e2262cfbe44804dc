/** Paths that a tool can change: none, any, or those that its call names. */
export type ToolReach = 'nothing' | 'anything' | readonly string[]

/** Tools that only read, or that start other calls with events of their own. */
const READING_TOOLS: ReadonlySet<string> = new Set([
  'Read',
  'NotebookRead',
  'Grep',
  'Glob',
  'LS',
  'WebFetch',
  'WebSearch',
  'TodoWrite',
  'TaskOutput',
  'BashOutput',
  'AskUserQuestion',
  'ExitPlanMode',
  'Task',
  'Agent',
  'Skill',
  'ToolSearch',
  'read_file',
  'read_many_files',
  'list_directory',
  'glob',
  'grep_search',
  'search_file_content',
  'web_fetch',
  'google_web_search',
  'view_image',
  'update_plan',
])

/** Tools that change the file they name. */
const EDITING_TOOLS: ReadonlySet<string> = new Set([
  'Edit',
  'Write',
  'MultiEdit',
  'NotebookEdit',
  'StrReplace',
  'Delete',
  'write_file',
  'replace',
])

const PATH_ARGUMENTS = ['file_path', 'notebook_path', 'path'] as const

/** Returns what a call can change, and its subject for people: the command, the file or nothing. */
export function getToolReach(
  tool: string,
  input: Readonly<Record<string, unknown>>,
): { readonly reach: ToolReach; readonly subject: string } {
  const path = PATH_ARGUMENTS.map((name) => input[name]).find((value) => typeof value === 'string')
  const command = input['command'] ?? input['cmd']
  const subject = typeof command === 'string' ? command : typeof path === 'string' ? path : ''
  if (READING_TOOLS.has(tool)) return { reach: 'nothing', subject }
  // A relative path has no certain base, since an agent may change its directory.
  const isExact = EDITING_TOOLS.has(tool) && typeof path === 'string' && path.startsWith('/')
  return { reach: isExact ? [path] : 'anything', subject }
}
