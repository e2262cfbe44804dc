/** Tools as skills written for other programs call them, and the device that does the same here. */
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
 * The devices that allowed tools stand for, each once. A device is named by its path; a tool of other programs, such as
 * `Bash(git:*)`, stands for its device as a whole, since what a command may do is judged there. Others stand for none.
 */
export function toDevicePaths(tools: readonly string[]): string[] {
  const devices = tools.flatMap((tool) => {
    if (isDevicePath(tool)) return [tool]
    const name = tool.replace(/\(.*$/, '')
    return Object.hasOwn(TOOL_DEVICES, name) ? [TOOL_DEVICES[name] ?? ''] : []
  })
  return [...new Set(devices)]
}

/** Whether it is the path of a device, and of nothing above one. */
export function isDevicePath(tool: string): boolean {
  return DEVICE.test(tool) && !tool.split('/').some((name) => name === '.' || name === '..')
}

/** Tools in a line: spaces or commas set them apart, except within parentheses. */
export function splitTools(line: string): string[] {
  return line.match(/[^\s,(]+(?:\([^)]*\))?/g) ?? []
}
