/** Tool names of other programs, with the equivalent device. */
const TOOL_DEVICES: Readonly<Record<string, string>> = {
  Read: '/dev/fs',
  Write: '/dev/fs',
  Edit: '/dev/fs',
  MultiEdit: '/dev/fs',
  NotebookEdit: '/dev/fs',
  Glob: '/dev/fs',
  Grep: '/dev/fs',
  LS: '/dev/fs',
  Bash: '/dev/shell',
  WebFetch: '/dev/web',
  WebSearch: '/dev/web',
  LSP: '/dev/lsp',
  AskUserQuestion: '/dev/tty',
  TodoWrite: '/dev/tasks',
  TaskCreate: '/dev/tasks',
  TaskUpdate: '/dev/tasks',
  TaskList: '/dev/tasks',
}
const DEVICE = /^\/(?:dev|mnt\/mcp)(?:\/[\w.-]+)+$/

/**
 * Returns the devices of allowed tools, each once. A device is named by its path; a tool of other programs, such as
 * `Bash(git:*)`, maps to its whole device, whose policy checks commands. Unknown tools map to none.
 */
export function toDevicePaths(tools: readonly string[]): string[] {
  const devices = tools.flatMap((tool) => {
    if (isDevicePath(tool)) return [tool]
    const name = tool.replace(/\(.*$/, '')
    return Object.hasOwn(TOOL_DEVICES, name) ? [TOOL_DEVICES[name] ?? ''] : []
  })
  return [...new Set(devices)]
}

/** True for the path of a device, but not of a directory above one. */
export function isDevicePath(tool: string): boolean {
  return DEVICE.test(tool) && !tool.split('/').some((name) => name === '.' || name === '..')
}

/** Splits a line of tools at spaces or commas outside parentheses. */
export function splitTools(line: string): string[] {
  return line.match(/[^\s,(]+(?:\([^)]*\))?/g) ?? []
}
